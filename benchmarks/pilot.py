"""Does training pay? Pilot runs against the seed pair with no ticket, on unseen instances.

    python benchmarks/pilot.py [SEEDS]

Prints one Markdown table. Finished runs are kept in runs/benchmarks and not repeated.
"""

import sys

from runs import mean_improvement, paired_interval, rows, seconds, train


def main(seeds: int = 3) -> None:
    """Train, compare pairwise on the validation pool, print."""
    print(
        "| seed | seconds | selection | validation | seed pair | gain (95% interval) | infeasible |"
    )
    print("|---|---|---|---|---|---|---|")
    for seed in range(seeds):
        trained = train(f"pilot-{seed}", "budget=pilot", f"seed={seed}")
        untrained = train(
            f"pilot-zero-{seed}", "budget=pilot", "budget.programs=0", "budget.rounds=1",
            f"seed={seed}",
        )  # fmt: skip
        mean, low, high = paired_interval(trained, untrained, "validation")
        infeasible = sum(not row["feasible"] for row in rows(trained, "validation").values())
        print(
            f"| {seed} | {seconds(trained):.0f} | {mean_improvement(trained, 'selection'):.3f}% "
            f"| {mean_improvement(trained, 'validation'):.3f}% "
            f"| {mean_improvement(untrained, 'validation'):.3f}% "
            f"| {mean:+.3f} ({low:+.3f} to {high:+.3f}) | {infeasible} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
