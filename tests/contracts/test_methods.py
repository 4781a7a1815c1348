"""What every method of conf/method keeps, so that the loop can trust it without knowing it."""

import functools
import re
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from checksums import ROUNDS, TICKETS, Alike, Checksums, Failing, Listener, Moody, run
from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.core import journal as journals
from specahd.core.contract import Operator
from specahd.core.program import Level, Outcome
from specahd.core.seeding import generator
from specahd.llm.recorded import Recorded
from specahd.memory import memory
from specahd.search import engine
from specahd.search.base import Query
from specahd.search.replay import Replay

ROOT = Path(__file__).parent.parent.parent
ADDED = ROOT / "tests" / "methods" / "added"
GUIDE = (ROOT / "docs" / "tutorials" / "add-a-method.md").read_text(encoding="utf-8")
FILES = ("journal.jsonl", "responses.jsonl")


def confs():
    """Yield a name and the configuration of every search method of every file."""
    for path in sorted([*(CONF_DIR / "method").glob("*.yaml"), *ADDED.glob("method/*.yaml")]):
        conf = OmegaConf.load(path)
        conf = conf.get("method", conf)
        for role in ("policy", "lower", "upper"):
            if conf.get(role) is not None:
                yield f"{path.stem}-{role}", conf[role]


def shown(language):
    """Return the first block of code of the guide."""
    return re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)[1]


def test_the_guide_chooses_for_a_method_what_the_files_of_the_others_choose():
    guide, eoh = OmegaConf.create(shown("yaml")), OmegaConf.load(CONF_DIR / "method" / "eoh.yaml")
    assert guide.defaults == eoh.defaults
    assert {guide[key] == eoh[key] for key in ("_target_", "_partial_")} == {True}


METHODS = {**dict(confs()), "of-the-guide": OmegaConf.create(shown("yaml")).policy}
VARIANTS = {
    "lhns-ils": ("lhns", {"kind": "ils", "initial_temperature": 1e-9}, {"p1"}),
    "lhns-ts": ("lhns", {"kind": "ts", "initial_temperature": 1e-9}, {"p2"}),
    "lhns-two": ("lhns", {"trajectories": 2}, {"rr"}),
    "partevo-ideas": (
        "partevo",
        {"population": 4, "features": ["idea", "score"], "operators": ["lge", "cc"]},
        {"lge", "cc"},
    ),
    "mles-blind": ("mles", {"population": 4, "operators": ["m1", "m2"]}, {"m1", "m2"}),
}
"""Other options of a method, and the operators that these are for, by name."""
for variant, (name, options, _) in VARIANTS.items():
    METHODS[variant] = OmegaConf.merge(METHODS[f"{name}-policy"], options)


@pytest.fixture(autouse=True, scope="module")
def _added():
    name = METHODS["of-the-guide"]._target_.rpartition(".")[0]
    module = ModuleType(name)
    exec(shown("python"), vars(module))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(ADDED)
        monkeypatch.setitem(sys.modules, name, module)
        yield
    sys.modules.pop("reflective_tree", None)


@pytest.fixture(autouse=True, scope="module")
def _judged_once():
    """Judge equal sources once, for most programs of one method are those of another."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(engine, "guard", functools.cache(engine.guard))
        monkeypatch.setattr(memory, "normalised_source", functools.cache(memory.normalised_source))
        yield


@pytest.fixture(params=METHODS, scope="module")
def named(request):
    """Go through the search methods by name."""
    return request.param


@pytest.fixture(scope="module")
def make(named):
    """Make the search method, anew each time."""
    return functools.partial(instantiate(METHODS[named]))


@pytest.fixture(scope="module")
def reference(make, tmp_path_factory):
    """A run by one sampler, with bad replies and lost requests: its folder, what it spent."""
    folder, proposer = tmp_path_factory.mktemp("reference"), Moody(0.3, 0.1)
    spent, records = run(folder, make(), proposer, samplers=1, workers=1)
    return SimpleNamespace(folder=folder, spent=spent, records=records, calls=proposer.calls)


@pytest.fixture(scope="module", params=[1, 8])
def listener(request, make, tmp_path_factory):
    """What heard all that a method was told and asked, with few and with many open requests."""
    listener = Listener(make())
    run(tmp_path_factory.mktemp("told"), listener, Moody(0.2, 0.0), lag=request.param)
    return listener


def content(directory):
    return [(directory / name).read_bytes() for name in FILES]


def test_tickets_are_exact(reference):
    spent = reference.spent
    programs = [record for record in reference.records if "sample" in record]
    texts = [record for record in reference.records if record.get("record") == "text"]
    assert spent.tickets == len(programs) == TICKETS
    assert spent.auxiliary_calls == len(texts)
    assert spent.prompt_tokens == 3 * (len(programs) + len(texts))
    lost = {name for name, calls in reference.calls.items() if calls > 1}
    assert spent.refunds == len(lost & {record["sample"] for record in programs}) > 0
    assert {record["outcome"] for record in programs} >= {"ok", "parse_error"}


@pytest.mark.parametrize(
    ("measures", "lag", "rounds", "outcome", "scores"),
    [
        (Checksums, 1, 1, "parse_error", set()),
        (Checksums, 8, 2, "parse_error", set()),
        (Failing, 8, 1, "crashed", {0.0}),
        (Alike, 8, 2, "ok", {0.02}),
    ],
)
def test_programs_none_of_which_is_better_end_at_the_budget(
    make, tmp_path, measures, lag, rounds, outcome, scores
):
    method, tickets = make(), rounds * TICKETS // ROUNDS
    proposer = Moody(float(outcome == "parse_error"), 0.0)
    options = {"measures": measures, "lag": lag, "rounds": rounds, "tickets": tickets}
    spent, records = run(tmp_path / "run", method, proposer, **options)
    programs = [record for record in records if "sample" in record]
    assert spent.tickets == len(programs) == tickets
    assert {record["outcome"] for record in programs} - {"duplicate"} == {outcome}
    assert {record["score"] for record in programs} - {None} == scores
    if measures is not Checksums:
        assert bool(method.members) == (measures is Alike)


def test_its_state_follows_from_what_it_was_told(make, listener):
    assert listener.threads == {threading.get_ident()}
    again = make()
    level = Checksums(again, 0, 1)
    for kind, *event in listener.events:
        if kind == "begin":
            level.round += 1
            level.rows = {parent.program.id: parent.responses for parent in event[0].carried}
            again.begin(replace(event[0], rank=level.rank))
        elif kind == "ask":
            index, asked = event
            assert again.ask(index, generator(1, Level.LOWER, level.round, index)) == asked
        else:
            sample, members = event
            if sample.retained:
                level.rows[sample.program.id] = sample.responses
            index = sample.request.index
            again.tell(sample, generator(1, Level.LOWER, level.round, index, "tell"))
            assert [parent.program.id for parent in again.members] == members


def test_what_it_asks_for_and_keeps_was_measured_in_the_round(listener):
    known = {}
    for kind, *event in listener.events:
        if kind == "begin":
            assert event[0].tickets == TICKETS // ROUNDS
            known = {parent.program.id: parent for parent in event[0].carried}
        elif kind == "ask":
            query = event[1]
            assert isinstance(query, Query | None)
            if query is not None:
                assert isinstance(query.operator, Operator)
                assert len(query.parents) <= query.operator.parents
                for parent in query.parents:
                    assert known[parent.program.id].score == parent.score
        else:
            sample, members = event
            if sample.retained:
                known[sample.program.id] = sample.parent
            assert len(members) == len(set(members)) <= listener.size
            assert set(members) <= known.keys()
    assert listener.members


def test_each_program_is_recorded_with_where_it_came_from_and_what_became_of_it(named, reference):
    folder = reference.folder
    exchanged = {
        record["sample"]: (record["hash"], record["reply"])
        for record in journals.read_records(folder / "wal.jsonl")
    }
    measured = {
        record["sample"]: record["cost_before"]
        for record in journals.read_records(folder / "responses.jsonl")
        if "sample" in record and "cost_before" in record
    }
    known = {Checksums.contract.seed.id}
    operators = set()
    for record in reference.records:
        if "sample" not in record:
            continue
        assert record["operator"]
        operators.add(record["operator"])
        assert set(record["parents"]) <= known
        assert (record["request"], record["reply"]) == exchanged[record["sample"]]
        assert Outcome(record["outcome"])
        if record["score"] is not None:
            assert record["responses"] == record["sample"]
            assert record["score"] == np.mean(measured[record["sample"]])
            known.add(record["sample"])
    if named in VARIANTS:
        assert operators >= VARIANTS[named][-1]


def test_its_replies_give_the_same_bytes_again_whatever_the_samplers(make, reference, tmp_path):
    replies = Recorded(reference.folder / "wal.jsonl")
    again, _ = run(tmp_path / "again", make(), replies, samplers=7)
    assert content(tmp_path / "again") == content(reference.folder)
    # A cassette loses no connection.
    assert again == replace(reference.spent, refunds=0)


def test_it_goes_on_where_a_killed_run_broke_off(make, reference, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(reference.folder, broken)
    for name, share in (("wal.jsonl", 0.6), ("journal.jsonl", 0.5), ("responses.jsonl", 0.55)):
        path = broken / name
        # Somewhere in a line, as a kill leaves it.
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    had = {record["sample"] for record in journals.read_records(broken / "wal.jsonl")}
    proposer = Moody(0.3, 0.1)
    again, _ = run(broken, make(), proposer, samplers=7, replay=Replay.read(broken))
    assert content(broken) == content(reference.folder)
    assert again == reference.spent
    assert had
    assert not had & proposer.calls.keys()
