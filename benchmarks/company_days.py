"""Write days of one company: ``python benchmarks/company_days.py OUT FILE STOPS [CAPACITY]``.

The customers are those of a public file. Each orders on a share of the days, drawn once from a
Beta(0.5, 1.5) distribution, so that a few are regular and most are rare. A day holds STOPS of them,
drawn without replacement with these shares as weights, with their own demands and windows; a
demand varies by up to half from day to day. CAPACITY replaces that of the file: eight times as much
makes routes eight times as long. 60 days are written as VRPLIB files.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from specahd import api

DAYS = 60


def main() -> None:
    out, file, stops = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    read = api.read(file)
    problem, company = read.problem, read.data
    company = replace(company, capacity=int(sys.argv[4]) if sys.argv[4:] else company.capacity)
    rng = np.random.default_rng([int(company.demands.sum()), stops])
    shares = rng.beta(0.5, 1.5, company.size)
    out.mkdir(parents=True, exist_ok=True)
    for day in range(1, DAYS + 1):
        drawn = 1 + np.sort(rng.choice(company.size, stops, False, shares / shares.sum()))
        nodes = np.concatenate(([0], drawn))
        demands = np.rint(company.demands[nodes] * rng.uniform(0.5, 1.5, stops + 1)).astype(int)
        demands[1:] = np.clip(demands[1:], 1, company.capacity)
        name = f"{company.name}-day-{day:02}"
        one = replace(company.at(nodes, demands), name=name)
        (out / f"{name}.vrp").write_text(problem.dumps(one))


if __name__ == "__main__":
    main()
