"""A run directory as a training writes it, record by record."""

import json
from pathlib import Path

import yaml

from specahd.core.seeding import generator
from specahd.runs.journal import Journal

CONFIG = {
    "seed": 3,
    "problem": {"_target_": "a.b", "baseline": "nearest", "max_size": 50, "repair": "append"},
    "search": {"penalty": {"weight": 1.0}},
    "pools": {"dir": "pools", "seed": 1},
    "budget": {
        "name": "smoke",
        "programs": 40,
        "lower_train": 1,
        "upper_train": 2,
        "selection": 2,
        "validation": None,
    },
    "choices": {"problem": "cvrp", "method": "specahd", "llm": "offline", "experiment": None},
}
SOURCE = "def select_next_node(*_):\n    return 0\n"
BEGAN = 1_800_000_000


class WrittenRun:
    """Writes samples alternately of both levels; every fifth does not parse."""

    def __init__(self, directory: Path, **config) -> None:
        directory.mkdir(parents=True)
        self.directory = directory
        self.count = 0
        (directory / "config.yaml").write_text(yaml.safe_dump(CONFIG | config))
        (directory / "sandbox.json").write_text('{"seccomp": "enforced"}')
        facts = {"machine.cpus": "2", "version.numpy": "2.0", "commit": "c0ffee"}
        (directory / "machine.json").write_text(json.dumps(facts))

    def commit(self, samples: int = 1) -> None:
        """Append samples to the journal's files."""
        with Journal(self.directory) as journal:
            for index in range(self.count, self.count + samples):
                self._commit(journal, index)
        self.count += samples

    def _commit(self, journal: Journal, index: int) -> None:
        level = ("lower", "upper")[index % 2]
        failed = index % 5 == 4
        sample = f"{level}-1-{index:04d}"
        journal.wal.append(
            {
                "sample": sample,
                "reply": "a reply",
                "prompt_tokens": 10,
                "completion_tokens": index,
                "cost": 0.5,
                "refunds": 0,
            }
        )
        if not failed and level == "upper":
            journal.responses.append(
                {
                    "sample": sample,
                    "round": 1,
                    "outcome": "ok",
                    "utilities": [0.5, 0.25],
                    "penalties": [0.125, 0.0],
                }
            )
        journal.samples.append(
            {
                "sample": sample,
                "level": level,
                "round": 1,
                "index": index,
                "operator": "e1",
                "parents": [f"{level}-seed"],
                "reply": "a reply",
                "source": None if failed else SOURCE,
                "idea": None if failed else "Take the first.",
                "outcome": "parse_error" if failed else "ok",
                "detail": "There is no code." if failed else "",
                "score": None if failed else index / 100,
                "best": index / 100,
            }
        )
        journal.timings.append({"sample": sample, "at": BEGAN + index, "reply": 0.5, "commit": 2.0})

    def text(self) -> None:
        """Append a text that its method requested."""
        with Journal(self.directory) as journal:
            spent = {"prompt_tokens": 10, "completion_tokens": 3, "cost": 0.5, "refunds": 0}
            journal.wal.append({"sample": "lower-1-0099", "reply": "So.", **spent})
            asked = {"level": "lower", "round": 1, "index": 99, "operator": "reflect"}
            record = {"record": "text", "text": "lower-1-0099", **asked, "reply": "So."}
            journal.samples.append(record)

    def end_round(self) -> None:
        """Append the record of a round that the program at index 1 won."""
        with Journal(self.directory) as journal:
            record = {"record": "round", "round": 1, "upper": "upper-1-0001", "repertoire": []}
            journal.samples.append(record | {"J": 0.25, "selection": 0.5, "archive": 7})

    def finish(self) -> None:
        """Write what a complete run leaves: rows, an example, a checkpoint."""
        rng = generator(0, "example")
        for pool, gain in (("selection", 0.5), ("validation", 0.125)):
            row = {
                "instance": "a",
                "size": 10,
                "baseline": "nearest",
                "status": "ok",
                "improvement": gain,
                "baseline_cost": 8.0,
                "cost": 7.0,
                "steps": [],
            }
            failed = row | {"status": "T", "improvement": None, "cost": None}
            text = "".join(json.dumps(line) + "\n" for line in (row, row, failed))
            (self.directory / f"{pool}.jsonl").write_text(text)
        example = {
            "instance": "example",
            "coords": rng.random((6, 2)).tolist(),
            "before": [[1, 2], [3, 4, 5]],
            "after": [[2, 1], [3, 5, 4]],
            "cost_before": 8.0,
            "cost_after": 7.0,
        }
        (self.directory / "routes.json").write_text(json.dumps(example) + "\n")
        (self.directory / "checkpoint").mkdir()
        (self.directory / "checkpoint" / "manifest.json").write_text("{}")
