"""What the parts of the generation memory are worth: the paper's Table 3, offline.

    python benchmarks/ablations.py [SEEDS [JOBS [MEMORY]]]

Two protocols (paper, appendix F): the lower search alone, and the upper search over one frozen
repertoire, that of the complete method's lower search of seed 0. Budget ``table``, three seeds, two
runs at once unless said otherwise. Finished runs are kept in runs/benchmarks; broken ones go on.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from runs import mean_improvement, seconds, train

VARIANTS = {
    "none": "complete",
    "single_embedding": "single embedding",
    "no_filter": "without filter",
    "no_skills": "without skills",
}
PROBLEMS = ("tsp", "cvrp")
PROTOCOLS = ("lower", "upper")
PROGRAMS = 60
"""Tickets of budget ``table``: a run counts when it spent them."""


def main(seeds: str = "3", jobs: str = "2", memory: str = "structural") -> None:
    """Make all runs of one protocol after the other, then print one Markdown table each."""
    for protocol in PROTOCOLS:
        cells = [
            (protocol, memory, problem, variant, seed)
            for problem in PROBLEMS
            for seed in range(int(seeds))
            for variant in VARIANTS
        ]
        with ThreadPoolExecutor(int(jobs)) as several:
            made = several.map(lambda cell: run(*cell), cells)
            runs = dict(zip(cells, made, strict=True))
        print(f"\n### {protocol}, {seeds} seeds, memory={memory}\n", flush=True)
        print(
            "| variant | problem | validation, mean | sd | by seed | selection, mean | duplicates "
            "| with skills | complete | seconds |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        for problem in PROBLEMS:
            for variant, name in VARIANTS.items():
                some = [
                    runs[protocol, memory, problem, variant, seed] for seed in range(int(seeds))
                ]
                print(f"| {name} | {problem} | " + " | ".join(columns(some)) + " |", flush=True)


def run(protocol: str, memory: str, problem: str, variant: str, seed: int) -> Path:
    """Train one cell of the table."""
    options = ["budget=table", f"memory={memory}", f"ablation={variant}", f"seed={seed}"]
    options += [f"search.levels={protocol}", "executor.workers=1"]
    if protocol == "upper":
        frozen = run("lower", memory, problem, "none", 0)
        options.append(f"search.repertoire={frozen / 'checkpoint'}")
    return train(
        f"ablation-{protocol}-{memory}-{problem}-{variant}-{seed}", *options, problem=problem
    )


def columns(runs: list[Path]) -> Iterator[str]:
    """Yield what one row of the table says of the runs of one setting."""
    values = [mean_improvement(run, "validation") for run in runs]
    yield f"{np.mean(values):.3f}%"
    yield f"{np.std(values, ddof=1):.3f}" if len(values) > 1 else "-"
    yield ", ".join(f"{value:.3f}" for value in values)
    yield f"{np.mean([mean_improvement(run, 'selection') for run in runs]):.3f}%"
    outcomes: Counter[str] = Counter()
    borne = complete = 0
    for directory in runs:
        records = map(json.loads, (directory / "journal.jsonl").read_text().splitlines())
        samples = [record for record in records if "sample" in record]
        outcomes.update(record["outcome"] for record in samples)
        borne += sum(bool(record["skills"]) for record in samples)
        complete += len(samples) == PROGRAMS
    yield str(outcomes["duplicate"])
    yield str(borne)
    yield f"{complete} of {len(runs)}"
    yield f"{np.median([seconds(run) for run in runs]):.0f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
