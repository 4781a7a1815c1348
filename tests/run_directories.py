"""Run directories as a run writes them, from few words."""

import yaml

from specahd.core import journal


def row(instance, size, cost, baseline_cost=100.0, *, status="ok", rollbacks=0, limited=0):
    failed = status != "ok"
    return {
        "instance": instance,
        "size": size,
        "baseline": "nearest",
        "baseline_cost": baseline_cost,
        "cost": None if failed else cost,
        "improvement": None if failed else (baseline_cost - cost) / baseline_cost,
        "feasible": True,
        "status": status,
        "steps": [
            *[{"outcome": "timeout"}] * limited,
            *[{"outcome": "infeasible_merge"}] * rollbacks,
            {"outcome": "ok"},
        ],
    }


def sample(level, round_, best, outcome="ok"):
    return {
        "sample": f"{level}-{round_}", "level": level, "contract": "append", "round": round_,
        "outcome": outcome, "best": best, "reply": "{}",
    }  # fmt: skip


def write_run(
    directory,
    *,
    problem="cvrp",
    seed=0,
    programs=4,
    method="specahd",
    choices=None,
    options=None,
    samples=None,
    recorded=None,
    selection=(row("s", 10, 98.0),),
    validation=(row("a", 10, 90.0), row("b", 20, 80.0)),
):
    """Write a run that is complete unless told otherwise; without ``recorded`` it has no times."""
    directory.mkdir(parents=True)
    config = {
        "seed": seed,
        "budget": {"name": "smoke", "programs": programs},
        "choices": {"problem": problem, "method": method, "llm": "offline", **(choices or {})},
        **(options or {}),
    }
    (directory / "config.yaml").write_text(yaml.safe_dump(config))
    if samples is None:
        samples = [
            sample("lower", 1, None, "parse_error"),
            sample("lower", 1, 0.01 + seed / 100),
            sample("upper", 1, 0.02),
            sample("upper", 1, 0.03 + seed / 100, "duplicate"),
        ]
    lines(
        directory / "journal.jsonl",
        [*samples, {"record": "round", "round": 1, "upper": "upper-seed"}],
    )
    if recorded is not None:
        lines(directory / "timings.jsonl", [{"sample": "a", "at": recorded}, {"sample": "b"}])
    for pool, rows in (("selection", selection), ("validation", validation)):
        if rows:
            lines(directory / f"{pool}.jsonl", rows)
    return directory


def lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{journal.dumps(record)}\n" for record in records))
