"""Does search beat sampling? All operators against i1 alone, same budget, paired seeds.

    python benchmarks/search_value.py [SEEDS]

Prints one Markdown table. Finished runs are kept in runs/benchmarks and not repeated.
"""

import sys

from runs import mean_improvement, train


def main(seeds: int = 5) -> None:
    """Train both ways on every seed and count the wins on both pools."""
    wins = {"selection": 0, "validation": 0}
    print("| seed | selection: all | i1 only | validation: all | i1 only |")
    print("|---|---|---|---|---|")
    for seed in range(seeds):
        ways = {
            "all": train(f"search-all-{seed}", "budget=table", f"seed={seed}"),
            "i1": train(
                f"search-i1-{seed}", "budget=table", f"seed={seed}",
                "method.policy.operators=[i1]",
            ),
        }  # fmt: skip
        cells = []
        for pool in wins:
            searched, sampled = (mean_improvement(way, pool) for way in ways.values())
            wins[pool] += searched > sampled
            cells += [f"{searched:.3f}%", f"{sampled:.3f}%"]
        print(f"| {seed} | " + " | ".join(cells) + " |", flush=True)
    print("\nwins: " + ", ".join(f"{count} of {seeds} on {pool}" for pool, count in wins.items()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
