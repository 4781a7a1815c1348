"""Trainings against the loopback model server of the tests: faults, and a slow model.

python benchmarks/language_model.py faults     # 300 programs, 10% transport faults, 30% bad replies
python benchmarks/language_model.py latency    # 60 programs of a model that takes 2 s
"""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from runs import ROOT

sys.path.append(str(Path(__file__).parent.parent / "tests" / "llm"))
from conduct import Schedule, offline
from server import Server

PATIENCE = ["llm.timeout=2", "llm.backoff=0.05"]


def train(name: str, url: str, *overrides: str) -> float:
    """Train against a server; return the wall seconds."""
    began = time.perf_counter()
    subprocess.run(
        [
            *(sys.executable, "-m", "specahd.train", "llm=local", "llm.model=tested"),
            *(f"llm.base_url={url}", "tracking=none", f"hydra.run.dir={ROOT / name}", *overrides),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def faults() -> None:
    """Compare a run under faults with one that gets the same replies at once."""
    runs = {"server-faultless": Schedule(1, 0.0, 0.3), "server-faulty": Schedule(1, 0.1, 0.3)}
    for name, schedule in runs.items():
        with Server(offline(1), schedule, stall=3.0) as server:
            seconds = train(name, server.url, "budget=pilot", "budget.programs=300", *PATIENCE)
            print(f"{name}: {seconds:.0f} s, {sum(server.counts.values())} requests")
            print(f"  {dict(sorted(server.counts.items()))}")
        lines = (ROOT / name / "journal.jsonl").read_text().splitlines()
        samples = [record for record in map(json.loads, lines) if "sample" in record]
        print(f"  {len(samples)} tickets: {dict(Counter(s['outcome'] for s in samples))}")
    one, other = (ROOT / name for name in runs)
    for part in ("journal.jsonl", "responses.jsonl", "validation.jsonl", "checkpoint"):
        same = subprocess.run(["diff", "-rq", one / part, other / part], check=False)
        print(f"{part}: {'the same bytes' if same.returncode == 0 else 'DIFFERENT'}")


def latency(programs: int = 60, seconds: float = 2.0, samplers: int = 4) -> None:
    """Compare the time between the first and the last reply with that of an ideal pipeline."""
    with Server(offline(1), Schedule(1), latency=seconds) as server:
        train("server-slow", server.url, "budget=smoke", f"budget.programs={programs}")
        times = [exchange.time for exchange in server.exchanges]
    spent = max(times) + seconds - min(times)
    ideal = programs * seconds / samplers
    print(f"{programs} programs, {seconds} s each, {samplers} samplers")
    print(f"ideal pipeline {ideal:.1f} s, ours {spent:.1f} s, ratio {spent / ideal:.3f}")


if __name__ == "__main__":
    {"faults": faults, "latency": latency}[sys.argv[1]]()
