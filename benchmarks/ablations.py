"""The runs of the paper's Table 3, offline: what the parts of the generation memory are worth.

    python benchmarks/ablations.py [SEEDS [JOBS [MEMORY]]]
    python -m specahd.report runs=runs/benchmarks/ablations tracking=none

Two protocols (paper, appendix F): the lower search alone, and the upper search over one frozen
repertoire, that of the complete method's lower search of seed 0. Budget ``table``, three seeds, two
runs at once unless said otherwise. Finished runs are kept; broken ones go on. The report has the
tables.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runs import train

VARIANTS = ("none", "single_embedding", "no_filter", "no_skills")
PROBLEMS = ("tsp", "cvrp")
PROTOCOLS = ("lower", "upper")


def main(seeds: str = "3", jobs: str = "2", memory: str = "structural") -> None:
    """Make all runs of one protocol after the other."""
    for protocol in PROTOCOLS:
        cells = [
            (protocol, memory, problem, variant, seed)
            for problem in PROBLEMS
            for seed in range(int(seeds))
            for variant in VARIANTS
        ]
        with ThreadPoolExecutor(int(jobs)) as several:
            list(several.map(lambda cell: run(*cell), cells))


def run(protocol: str, memory: str, problem: str, variant: str, seed: int) -> Path:
    """Train one cell of the table."""
    options = ["budget=table", f"memory={memory}", f"ablation={variant}", f"seed={seed}"]
    options += [f"search.levels={protocol}", "executor.workers=1"]
    if protocol == "upper":
        frozen = run("lower", memory, problem, "none", 0)
        options.append(f"search.repertoire={frozen / 'checkpoint'}")
    return train(
        f"ablations/{protocol}-{memory}-{problem}-{variant}-{seed}", *options, problem=problem
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
