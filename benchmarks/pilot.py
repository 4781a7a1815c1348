"""Does training pay? Pilot runs against the seed pair with no ticket, on unseen instances.

    python benchmarks/pilot.py [SEEDS [PROBLEM ...]]

Prints one Markdown table. Finished runs are kept in runs/benchmarks and not repeated.
"""

import sys

from runs import mean_improvement, paired_interval, rows, seconds, train


def main(seeds: int = 3, *problems: str) -> None:
    """Train, compare pairwise on the validation pool, print."""
    print(
        "| problem | seed | seconds | selection | validation | seed pair "
        "| gain (95% interval) | rollbacks |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for problem in problems or ("cvrp",):
        for seed in range(seeds):
            compare(problem, seed)


def compare(problem: str, seed: int) -> None:
    """Print one row."""
    options = ["budget=pilot", f"seed={seed}"]
    trained = train(f"pilot-{problem}-{seed}", *options, problem=problem)
    zero = ["budget.programs=0", "budget.rounds=1"]
    untrained = train(f"pilot-{problem}-zero-{seed}", *options, *zero, problem=problem)
    mean, low, high = paired_interval(trained, untrained, "validation")
    steps = [step for row in rows(trained, "validation").values() for step in row["steps"]]
    rollbacks = sum(step["outcome"] != "ok" for step in steps)
    print(
        f"| {problem} | {seed} | {seconds(trained):.0f} "
        f"| {mean_improvement(trained, 'selection'):.3f}% "
        f"| {mean_improvement(trained, 'validation'):.3f}% "
        f"| {mean_improvement(untrained, 'validation'):.3f}% "
        f"| {mean:+.3f} ({low:+.3f} to {high:+.3f}) | {rollbacks}/{len(steps)} |",
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, *sys.argv[2:])
