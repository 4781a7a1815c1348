"""``python -m specahd.track run=DIR``: bring a run directory into MLflow afterwards.

Finished or broken, what its files tell is logged as it would have been at the time.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from specahd.config.door import CONFIG, door
from specahd.config.resume import saved_config
from specahd.core import journal
from specahd.core.budget import Ledger
from specahd.core.contract import Reply
from specahd.core.errors import FileError
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.tracking.observers import Observers

_POOLS = ("selection", "validation")


def track(config: DictConfig) -> None:
    """Tell the tracker of a run what its directory holds."""
    directory = Path(config.run)
    if not (directory / CONFIG).is_file():
        raise FileError(f"{directory} holds no run: it has no {CONFIG}.")
    saved: dict[str, Any] = OmegaConf.to_container(saved_config(directory))  # type: ignore[assignment]  # a mapping at the top
    observer = Observers([instantiate(config.tracking)])
    observer.on_start(saved, saved["budget"]["programs"], directory)
    committed = _repeat(directory, Ledger(saved["budget"]["programs"]), observer)
    complete = all((directory / f"{pool}.jsonl").is_file() for pool in _POOLS)
    checkpoint = directory / "checkpoint"
    status = "complete" if complete else "interrupted"
    observer.on_finish(
        status,
        _measures(directory) if complete else {},
        checkpoint if checkpoint.is_dir() else None,
    )
    for warning in observer.warnings:
        sys.stderr.write(warning + "\n")
    sys.stdout.write(f"{directory}: {committed} programs, {status}; compare with make ui\n")


def _repeat(directory: Path, ledger: Ledger, observer: Observer) -> int:
    """Tell what the journal tells; return the number of samples."""
    replies = {record["sample"]: record for record in journal.read(directory / "wal.jsonl")}
    seconds: dict[str, dict[str, float]] = {
        record["sample"]: {
            str(name): record[name] for name in ("reply", "commit") if name in record
        }
        for record in journal.read(directory / "timings.jsonl")
    }
    committed = 0
    for record in journal.read(directory / "journal.jsonl"):
        if "sample" not in record:
            measures = {
                name: float(value)
                for name, value in record.items()
                if name != "round" and isinstance(value, int | float)
            }
            observer.on_round(RoundEnd(record["round"], measures))
            continue
        sample = record["sample"]
        paid = replies[sample]
        reply = Reply(paid["reply"], paid["prompt_tokens"], paid["completion_tokens"], paid["cost"])
        ledger.take()
        ledger.count(reply, refunds=paid["refunds"])
        observer.on_commit(_committed(record, reply, seconds.get(sample, {})), ledger.read())
        committed += 1
    return committed


def _committed(record: Mapping[str, Any], reply: Reply, seconds: Mapping[str, float]) -> Committed:
    level = Level(record["level"])
    program = None
    if record["source"] is not None:
        program = Program(
            id=record["sample"],
            level=level,
            source=record["source"],
            idea=record["idea"],
            operator=record["operator"],
            parents=tuple(record["parents"]),
            skills=tuple(record["skills"]),
            tier=Tier(record["tier"]) if record["tier"] else None,
        )
    return Committed(
        level,
        record["round"],
        record["index"],
        record["operator"],
        Outcome(record["outcome"]),
        program,
        record["score"],
        record["best"],
        tuple(record["parents"]),
        record["detail"],
        reply=reply,
        seconds=seconds,
    )


def _measures(directory: Path) -> dict[str, float]:
    measures = {}
    for pool in _POOLS:
        rows = [row for row in journal.read(directory / f"{pool}.jsonl") if row["status"] == "ok"]
        for name in ("improvement", "baseline_cost", "cost"):
            if rows:
                measures[f"{pool}/{name}"] = sum(row[name] for row in rows) / len(rows)
    return measures


if __name__ == "__main__":
    sys.exit(door(track, "track"))
