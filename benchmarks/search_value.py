"""Does search beat sampling? All operators against i1 alone, same budget, paired seeds.

    python benchmarks/search_value.py [SEEDS [BUDGET]]

Prints one Markdown table. Finished runs are kept in runs/benchmarks and not repeated.
"""

import sys

from runs import mean_improvement, paired_interval, train


def main(seeds: str = "5", budget: str = "table") -> None:
    """Train both ways on every seed, compare the unseen rows, count the wins."""
    wins = {"selection": 0, "validation": 0}
    print("| seed | selection: all | i1 only | validation: all | i1 only | gain (95% interval) |")
    print("|---|---|---|---|---|---|")
    for seed in range(int(seeds)):
        options = [f"budget={budget}", f"seed={seed}"]
        search = train(f"{budget}-{seed}", *options)
        sample = train(f"{budget}-i1-{seed}", *options, "method.policy.operators=[i1]")
        cells = []
        for pool in wins:
            searched, sampled = (mean_improvement(way, pool) for way in (search, sample))
            wins[pool] += searched > sampled
            cells += [f"{searched:.3f}%", f"{sampled:.3f}%"]
        mean, low, high = paired_interval(search, sample, "validation")
        cells.append(f"{mean:+.3f} ({low:+.3f} to {high:+.3f})")
        print(f"| {seed} | " + " | ".join(cells) + " |", flush=True)
    print("\nwins: " + ", ".join(f"{count} of {seeds} on {pool}" for pool, count in wins.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
