"""Run small trainings, solves and commands, and say whose bytes are not those that were stored.

    .venv/bin/python scripts/check_bytes.py [NAMES ...] [--store] [--keep FOLDER]

Before a change of the code's shape that must not change what it does, and after it. The stored
sums are in ``scripts/bytes.json``; ``--store`` writes those of the cases that were run. NAMES are
parts of names of cases, such as ``train/cvrp``, ``solve`` or ``help``. Requests of a training are
hashed in its journal, so a changed prompt is seen too. The exit status is 1 if bytes differ.
"""

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "scripts" / "bytes.json"
PROBLEMS = ("tsp", "cvrp", "vrptw", "sdvrp")
COMMANDS = ("embed", "evaluate", "fetch", "prepare", "report", "select", "solve", "track", "train")
# Which repair operator each method trains.
OPERATORS = {
    "specahd": ("append",),
    "specahd_one_pass": ("append", "insertion"),
    **dict.fromkeys(("eoh", "eoh_s", "reevo", "mcts_ahd"), ("construct",)),
}
SMALL = (
    *("budget=smoke", "budget.rounds=2", "budget.lower_train=2", "budget.upper_train=2"),
    *("budget.selection=2", "budget.validation=2", "tracking=none", "limits.lower_call=60"),
    *("limits.candidate=600", "seed=1"),
)
RECORDED = {  # a recording, and the programs of it that are replayed
    "cvrp-append-smoke-seed0": ("cvrp", "specahd_one_pass", "append", 8),
    "cvrp-comparison-eoh-seed0": ("cvrp", "eoh", "construct", 6),
    "cvrp-comparison-reevo-seed0": ("cvrp", "reevo", "construct", 6),
    "cvrp-insertion-smoke-seed0": ("cvrp", "specahd_one_pass", "insertion", 8),
    "vrptw-append-smoke-seed0": ("vrptw", "specahd_one_pass", "append", 8),
    "vrptw-comparison-eoh_s-seed0": ("vrptw", "eoh_s", "construct", 3),
}
# Passes over large regions would take a quarter of an hour.
FEW_PASSES = ("search.passes=12", "problem.max_regions=4", "problem.max_size=50")
# What times, folders and processes decide.
_OF_THE_MACHINE = ("wal.jsonl", "timings.jsonl", "timings.json", "machine.json", "sandbox.json")
_CHANGING = re.compile(r"seconds|elapsed|_s$|^started|^finished|rate")


def command(name: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end; its words go to standard output, whatever its exit status."""
    return subprocess.run(
        [sys.executable, "-m", f"specahd.{name}", *words],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def steady(value: object) -> object:
    """Return a JSON value without the fields that hold times."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if not _CHANGING.search(key)}
    return [steady(each) for each in value] if isinstance(value, list) else value


def digest(path: Path) -> str:
    """Return the hash of a file; of JSON without its times."""
    content = path.read_bytes()
    if path.suffix in (".json", ".jsonl"):
        lines = content.splitlines() if path.suffix == ".jsonl" else [content]
        content = json.dumps([steady(json.loads(line)) for line in lines]).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def sums_of_run(run: Path) -> dict[str, str]:
    """Return the hashes of what a training leaves but its configuration, times and host."""
    return {
        str(path.relative_to(run)): digest(path)
        for path in sorted(run.rglob("*"))
        if path.is_file()
        and path.suffix in (".json", ".jsonl", ".py", ".parquet")
        and not path.name.endswith(_OF_THE_MACHINE)
    }


def train(folder: Path, name: str, *words: str, kill: bool = False) -> dict[str, str]:
    """Train in a folder of its own, killed once on demand; return the hashes of the run."""
    run = folder / "runs" / name.replace("/", "-")
    words = (*words, *SMALL, f"pools.dir={folder / 'pools'}", f"hydra.run.dir={run}")
    if kill:
        started = subprocess.Popen(
            [sys.executable, "-m", "specahd.train", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        journal = run / "journal.jsonl"
        while started.poll() is None and not (
            journal.is_file() and journal.read_bytes().count(b"\n") >= 5
        ):
            time.sleep(0.05)
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        words = (f"resume={run}",)
    done = command("train", *words, cwd=folder)
    if done.returncode:
        return {"failed": done.stdout.decode(errors="replace")[-400:]}
    return sums_of_run(run)


def solve(folder: Path, name: str, *words: str) -> dict[str, str]:
    """Solve a file with a number of repairs; return the hashes of the solution and its account."""
    out = folder / (name.replace("/", "-") + ".sol")
    done = command("solve", *words, f"out={out}", "repairs=20000", cwd=folder)
    if done.returncode:
        return {"failed": done.stdout.decode(errors="replace")[-400:]}
    return {"solution": digest(out)}


def cases(folder: Path) -> Iterator[tuple[str, object]]:
    """Yield the name of each case and what runs it."""
    for problem in PROBLEMS:
        for method, operators in OPERATORS.items():
            for operator in operators:
                words = (
                    *(f"problem={problem}", f"method={method}", f"problem.repair={operator}"),
                    *("llm=offline", "budget.programs=6"),
                    *(FEW_PASSES if method == "specahd" else ()),
                )
                yield f"train/{problem}/{method}/{operator}", (train, words)
    for problem, operator, method in (
        ("cvrp", "append", "specahd"),
        ("vrptw", "insertion", "specahd_one_pass"),
    ):
        words = (
            *(f"problem={problem}", f"method={method}", f"problem.repair={operator}"),
            *("llm=offline", "budget.programs=6"),
            *(FEW_PASSES if method == "specahd" else ()),
        )
        name = f"train/{problem}/{method}/{operator}"
        yield f"{name}@4-workers", (train, (*words, "executor.workers=4"))
        yield f"{name}@resumed", (train_killed, words)
    for recording, (problem, method, operator, programs) in RECORDED.items():
        words = (
            *(f"problem={problem}", f"method={method}", f"problem.repair={operator}"),
            *("llm=recorded", f"llm.path={ROOT / 'cassettes' / f'{recording}.jsonl'}"),
            *("llm.match=sample", f"budget.programs={programs}"),
        )
        yield f"recorded/{recording}", (train, words)
    for sample, *words in (
        *(["tsp.tsp"], ["cvrp.vrp"], ["vrptw.vrp"], ["sdvrp.vrp"]),
        ["cvrp.vrp", "workers=2"],
        ["cvrp.vrp", "convention=float"],
        ["vrptw.vrp", "checkpoint=evolved"],
        ["tsp.tsp", "checkpoint=evolved"],
        ["sdvrp.vrp", "checkpoint=evolved"],
        ["stops.csv", "capacity=30", "speed=8.3"],
        ["stops.csv", "capacity=30", "split=true", "ignore=ready,due,service"],
    ):
        yield f"solve/{' '.join([sample, *words])}", (solve, (f"samples/{sample}", *words))
    words = ("problem=cvrp", "method=specahd_one_pass", "llm=offline", "budget.programs=4")
    yield "report/cvrp", (report, words)
    for name in COMMANDS:
        yield f"help/{name}", (help_of, (name,))


def train_killed(folder: Path, name: str, *words: str) -> dict[str, str]:
    """Train, kill the training once, and go on."""
    return train(folder, name, *words, kill=True)


def report(folder: Path, name: str, *words: str) -> dict[str, str]:
    """Train, repair the validation pool again and report; return the hashes of rows and tables."""
    sums = train(folder, name, *words)
    if "failed" in sums:
        return sums
    run = folder / "runs" / name.replace("/", "-")
    sums = {}
    unseen = (f"checkpoint={run / 'checkpoint'}", "pool=validation", f"pools.dir={folder}/pools")
    for command_name, options in (("evaluate", unseen), ("report", (f"runs={run}",))):
        out = folder / command_name
        words = (*options, f"hydra.run.dir={out}", "tracking=none")
        done = command(command_name, *words, cwd=folder)
        if done.returncode:
            return {"failed": done.stdout.decode(errors="replace")[-400:]}
        sums |= {
            f"{command_name}/{path.relative_to(out)}": digest(path)
            for path in sorted(out.rglob("*"))
            if path.suffix in (".csv", ".json", ".jsonl", ".svg", ".tex", ".md")
            and not path.name.endswith(_OF_THE_MACHINE)
        }
    return sums


def help_of(folder: Path, name: str, subject: str) -> dict[str, str]:
    """Return the hash of what a command says of itself."""
    return {"text": hashlib.sha256(command(subject, "--help", cwd=folder).stdout).hexdigest()[:16]}


def main() -> int:
    """Run the chosen cases, two at a time, and compare their sums with the stored ones."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--store", action="store_true", help="store the sums of these cases")
    parser.add_argument("--keep", type=Path, help="keep what the cases leave in this folder")
    arguments = parser.parse_args()
    stored = json.loads(STORED.read_text()) if STORED.is_file() else {}
    differing = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        folder = (arguments.keep or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        chosen = {
            name: case
            for name, case in cases(folder)
            if not arguments.names or any(part in name for part in arguments.names)
        }
        for problem in PROBLEMS:  # once, before two trainings need them at the same time
            if any(f"problem={problem}" in words for _, words in chosen.values()):
                words = (f"problem={problem}", f"pools.dir={folder / 'pools'}")
                command("prepare", *words, cwd=folder)
        jobs = {
            name: pool.submit(function, folder, name, *words)
            for name, (function, words) in chosen.items()
        }
        for name, job in jobs.items():
            sums = job.result()
            expected = stored.get(name.split("@")[0], {})
            if arguments.store and "@" not in name and "failed" not in sums:
                stored[name] = expected = sums
            wrong = [each for each in sums | expected if sums.get(each) != expected.get(each)]
            differing += [name] if wrong else []
            told = sums.get("failed") or ", ".join(wrong) or "equal"
            sys.stdout.write(f"{name}: {told}\n")
            sys.stdout.flush()
    if arguments.store:
        STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
