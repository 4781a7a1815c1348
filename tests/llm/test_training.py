"""Whole trainings against a server that speaks chat completions, and misbehaves."""

import json
import re
import shutil
import signal
import time
from collections import Counter

import pytest
from server import Server
from server_behaviour import Schedule, Script, offline

from commands import call, start
from specahd.runs.journal import reopen_run
from specahd.runs.reading import read_run

pytestmark = pytest.mark.integration

ROUND = [
    "budget=smoke",
    "budget.rounds=2",
    "budget.lower_train=4",
    "budget.upper_train=3",
    "budget.selection=3",
    "budget.validation=3",
    # Passes end soon, since what is tested is how replies come.
    "search.uppers=1",
    "search.passes=2",
]
# Faults that stall do so for longer than the client waits.
PATIENCE = ["llm.timeout=1", "llm.backoff=0.02", "llm.patience=0.2"]
STALL = 1.5
FATAL = re.compile(r"Traceback|sk-canary")


def train(
    place, url, *options, programs=24, env=None, check=True, tracking="none", llm=None, cold=False
):
    llm = llm or ("llm=local", "llm.model=tested", f"llm.base_url={url}")
    words = [
        *(*ROUND, f"tracking={tracking}", f"budget.programs={programs}"),
        *(*([] if "llm=recorded" in llm else PATIENCE), *llm, *options),
    ]
    return call("train", *words, cwd=place, env=env, check=check, cold=cold)


def server(schedule=None, **options):
    return Server(offline(1), schedule, stall=STALL, wait=0, **options)


def journal(run):
    """Return the records of a journal; of one that is being written, those that are whole."""
    *whole, _ = (run / "journal.jsonl").read_text().split("\n")
    return [json.loads(line) for line in whole]


def outcomes(run):
    return Counter(record["outcome"] for record in journal(run) if "sample" in record)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def faultless(tmp_path_factory):
    """A run whose replies are as bad as those of the others, but come at once."""
    place = tmp_path_factory.mktemp("faultless")
    with server(Schedule(seed=3, bad=0.3)) as fake:
        train(place, fake.url, "hydra.run.dir=run", cold=True)
    return place


def test_bad_replies_cost_their_tickets_and_nothing_else(faultless):
    counts = outcomes(faultless / "run")
    schedule = Schedule(seed=3, bad=0.3)
    bad = sum(
        schedule.spoiling(f"{record['sample']}-{record['request'][:16]}") is not None
        for record in journal(faultless / "run")
        if "sample" in record
    )
    assert counts.total() == 24
    assert bad >= 3
    assert counts["parse_error"] == bad


@pytest.mark.parametrize("samplers", [1, 4])
def test_transport_faults_change_nothing(faultless, tmp_path, samplers):
    stream = f"llm.stream={'true' if samplers == 4 else 'false'}"
    schedule = Schedule(seed=3, faults=0.2, bad=0.3)
    with server(schedule) as fake:
        options = [f"search.samplers={samplers}", stream, "hydra.run.dir=run"]
        train(tmp_path, fake.url, *options)
        asked = Counter(exchange.sample for exchange in fake.exchanges)
        served = fake.counts
    assert sum(served.values()) > 24
    assert len({sample for sample in asked}) >= 24
    for name in ("journal.jsonl", "responses.jsonl", "validation.jsonl"):
        ours, theirs = (place / "run" / name for place in (tmp_path, faultless))
        assert ours.read_bytes() == theirs.read_bytes(), name
    assert files(tmp_path / "run" / "checkpoint") == files(faultless / "run" / "checkpoint")


def test_wrong_programs_alone_end_at_the_budget_with_status_1(tmp_path):
    with server(Script(bad="wrong name")) as fake:
        done = train(tmp_path, fake.url, "hydra.run.dir=run", programs=13, check=False)
    assert done.returncode == 1
    ended = "No reply held a program that could be used: 13 parse_error. Most often: Expected"
    assert re.search(rf"{ended} a function \w+, got another_name\.$", done.stderr, re.MULTILINE)
    assert not FATAL.search(done.stderr)
    assert outcomes(tmp_path / "run") == {"parse_error": 13}


def test_replies_without_a_program_end_a_run_which_then_goes_on(tmp_path):
    with server(Script(bad="empty")) as fake:
        done = train(tmp_path, fake.url, "hydra.run.dir=run", programs=24, check=False)
        assert done.returncode == 2
        assert "replies in a row were empty (finish_reason=stop); set llm.model" in done.stderr
        assert "Go on with: python -m specahd.train resume=run" in done.stderr
        assert not FATAL.search(done.stderr)
        paid = (tmp_path / "run" / "wal.jsonl").read_bytes().count(b"\n")
        assert 10 <= paid < 24
        details = {record.get("detail") for record in journal(tmp_path / "run")}
        assert details <= {"The reply is empty (finish_reason=stop).", None}
        fake.schedule = Schedule(seed=3)
        call("train", "resume=run", cwd=tmp_path)
        assert outcomes(tmp_path / "run").total() == 24
    counts = Counter(exchange.sample for exchange in fake.exchanges)
    assert set(counts.values()) == {1}


def test_a_prompt_that_is_too_long_costs_its_ticket_and_the_run_goes_on(tmp_path):
    with server(_Fading(Script(), Script(faults=("too long",)), 8)) as fake:
        train(tmp_path, fake.url, "hydra.run.dir=run", programs=13)
    counts = outcomes(tmp_path / "run")
    assert counts.total() == 13
    assert counts["prompt_refused"] == 5


def test_a_run_of_prompts_that_are_too_long_ends_with_a_sentence(tmp_path):
    with server(Script(faults=("too long",) * 9)) as fake:
        done = train(tmp_path, fake.url, "hydra.run.dir=run", programs=8, check=False)
    assert done.returncode == 1
    assert "No reply held a program that could be used: 8 prompt_refused." in done.stderr


def test_a_service_that_stays_away_ends_a_run_which_then_goes_on(faultless, tmp_path):
    schedule = Schedule(seed=3, bad=0.3)
    with server(_Fading(schedule, Script(faults=("503",) * 1000), 9)) as fake:
        done = train(tmp_path, fake.url, "llm.attempts=2", "hydra.run.dir=run", check=False)
        assert done.returncode == 1
        assert "did not reply" in done.stderr
        told = r"^tested at .*: status 503 \(Overloaded\); attempt 2 of 2 follows in 0\.\d s\.$"
        assert re.search(told, done.stderr, re.MULTILINE)
        # No request is made more often than that.
        asked = Counter(exchange.sample for exchange in fake.exchanges)
        assert max(asked.values()) == 2
        assert "Go on with: python -m specahd.train resume=run" in done.stderr
        assert not FATAL.search(done.stderr)
        assert 0 < outcomes(tmp_path / "run").total() < 24
        fake.schedule = schedule
        call("train", "resume=run", cwd=tmp_path)
    ours, theirs = (place / "run" / "journal.jsonl" for place in (tmp_path, faultless))
    assert ours.read_bytes() == theirs.read_bytes()


class _Fading:
    """Misbehaves in one way at first and in another after some exchanges."""

    def __init__(self, early, late, count):
        self.early, self.late, self.left = early, late, count

    def fault(self, sample, attempt):
        self.left -= 1
        return (self.early if self.left >= 0 else self.late).fault(sample, attempt)

    def spoiling(self, sample):
        return self.early.spoiling(sample)


def test_an_allowance_ends_a_run_with_a_checkpoint(tmp_path):
    with server() as fake:
        done = train(
            tmp_path, fake.url, "llm.input_price=1", "llm.output_price=1",
            "budget.max_tokens=12000", "hydra.run.dir=run",
            llm=("llm=local", f"llm.base_url={fake.url}"),
        )  # fmt: skip
    assert "ended early: budget.max_tokens=12,000 leaves no room" in done.stdout
    # The only model of the server is the one that was meant.
    assert "  model: tested\n" in (tmp_path / "run" / "config.yaml").read_text()
    assert 0 < outcomes(tmp_path / "run").total() < 24
    assert (tmp_path / "run" / "checkpoint" / "manifest.json").is_file()


PAID = [
    *("llm.input_price=1", "llm.output_price=10", "budget.max_cost=0.05"),
    "+llm.options.max_tokens=300",
]


def paid(run):
    lines = (run / "wal.jsonl").read_text().splitlines()
    return sum(json.loads(line)["cost"] for line in lines)


def test_what_is_in_flight_counts_before_it_is_paid(tmp_path):
    journals = {}
    for samplers in (1, 7):
        run = tmp_path / f"run{samplers}"
        with server(wordy=True, latency=0.02) as fake:
            done = train(
                tmp_path, fake.url, *PAID, f"search.samplers={samplers}", f"hydra.run.dir={run}"
            )
            billed = len(fake.exchanges)
        assert 0.04 < paid(run) <= 0.05
        assert billed == outcomes(run).total()
        journals[samplers] = (run / "journal.jsonl").read_bytes()
        # The progress line and the closing summary tell what was paid.
        words = rf"[\d,]+ tokens, {paid(run):.4f} US dollars"
        assert re.search(rf"^paid: +{words}$", done.stdout, re.MULTILINE)
        assert re.search(
            r"programs, .*: \d+/24, [\d,]+ tokens, 0\.0\d+ US dollars, best", done.stderr
        )
    assert len(set(journals.values())) == 1


def test_a_bound_ends_a_resumed_run_and_a_replay_where_it_ended_the_run(tmp_path):
    with server(wordy=True) as fake:
        train(tmp_path, fake.url, *PAID, "hydra.run.dir=run")
    run, torn = tmp_path / "run", tmp_path / "torn"
    shutil.copytree(run, torn)
    shutil.rmtree(torn / "checkpoint")
    for name, kept in (("journal.jsonl", 3), ("responses.jsonl", 3), ("wal.jsonl", 6)):
        lines = (run / name).read_bytes().splitlines(keepends=True)
        (torn / name).write_bytes(b"".join(lines[:kept]))
    with server(wordy=True) as fake:
        call("train", "resume=torn", f"llm.base_url={fake.url}", cwd=tmp_path)
        billed = len(fake.exchanges)
    assert billed == outcomes(run).total() - 6
    assert paid(torn) == pytest.approx(paid(run))
    train(
        tmp_path, None, "budget.max_cost=0.05", "hydra.run.dir=replay",
        llm=("llm=recorded", "llm.path=run/wal.jsonl"),
    )  # fmt: skip
    for other in (torn, tmp_path / "replay"):
        for name in ("journal.jsonl", "responses.jsonl", "validation.jsonl"):
            assert (other / name).read_bytes() == (run / name).read_bytes(), name


def test_a_run_that_used_up_its_money_goes_on_with_more(tmp_path):
    whole, run = tmp_path / "whole", tmp_path / "run"
    with server(wordy=True, latency=0.05) as fake:
        train(tmp_path, fake.url, *PAID, "budget.max_cost=0.09", "hydra.run.dir=whole")
        done = train(tmp_path, fake.url, *PAID, "budget.max_cost=0.03", "hydra.run.dir=run")
        command = "python -m specahd.train resume=run budget.max_cost=…"
        assert f"\ngo on with: {command}\n" in done.stdout
        began, early = (run / "config.yaml").stat().st_mtime, files(run)
        again = ["resume=run", f"llm.base_url={fake.url}"]
        less = call("train", *again, "budget.max_cost=0.02", cwd=tmp_path, check=False)
        assert (less.returncode, less.stderr) == (
            *(2, "budget.max_cost may only be raised for the run in run: it has 0.03, got 0.02.\n"),
        )
        assert files(run) == early
        # Killed before it is told of more money, it ends where it ended.
        reopen_run(run)
        assert read_run(run).status == "interrupted"
        call("train", *again, cwd=tmp_path)
        later = files(run)
        assert all(later[name] == early[name] for name in early if "timings" not in name)
        more = start("specahd.train", *again, "budget.max_cost=0.09", cwd=tmp_path)
        while len(journal(run)) < outcomes(whole).total() - 4:
            time.sleep(0.02)
            assert more.poll() is None, more.communicate()
        more.kill()
        more.communicate()
        assert read_run(run).status == "interrupted"
        call("train", *again, cwd=tmp_path)
    assert "max_cost: 0.09" in (run / "config.yaml").read_text()
    assert (run / "config.yaml").stat().st_mtime == began
    for name in ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name
    assert files(run / "checkpoint") == files(whole / "checkpoint")


@pytest.mark.parametrize(
    ("bound", "least"),
    [
        (["budget.max_cost=0.002"], r"budget\.max_cost of at least 0\.\d{4}, got 0\.002"),
        (["budget.max_tokens=5000", "-m", "seed=0,1"], r"budget\.max_tokens of .* \d+, got 5000"),
    ],
)
def test_a_bound_below_one_request_is_refused_and_leaves_nothing(tmp_path, bound, least):
    with server() as fake:
        done = train(tmp_path, fake.url, *PAID, *bound, check=False, tracking="mlflow")
    assert done.returncode == 2
    assert re.match(rf"Expected {least}: .* [\d,]+ tokens of prompt and 300 of reply", done.stderr)
    # Not an instance either; it was tracked.
    assert list(tmp_path.iterdir()) == []
    assert not fake.exchanges


@pytest.mark.parametrize("llm", [("llm=local", "llm.model=tested"), ("llm=offline",)])
def test_a_bound_on_money_is_refused_where_nothing_costs_any(tmp_path, llm):
    words = [*ROUND, "tracking=none", *llm, "budget.max_cost=0.05"]
    done = call("train", *words, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "budget.max_cost=0.05 bounds nothing" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_without_a_valid_key_neither_a_run_nor_a_sweep_begins(tmp_path):
    with server(key="another") as fake:
        for env, sweep in (({"MY_KEY": "sk-canary"}, []), ({"MY_KEY": ""}, ["-m", "seed=0,1"])):
            options = ["llm.api_key_env=MY_KEY", *sweep]
            done = train(tmp_path, fake.url, *options, env=env, check=False)
            assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
            assert "MY_KEY" in done.stderr
            assert not FATAL.search(done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_run_killed_while_the_model_thinks_asks_again_only_what_was_in_flight(tmp_path):
    with server(latency=0.3) as fake:
        process = start(
            "specahd.train", *ROUND, "tracking=none", "llm=local", "llm.model=tested",
            f"llm.base_url={fake.url}", "budget.programs=16", "hydra.run.dir=run", cwd=tmp_path,
        )  # fmt: skip
        wal = tmp_path / "run" / "wal.jsonl"
        while not wal.exists() or wal.read_bytes().count(b"\n") < 6:
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = call("train", "resume=run", cwd=tmp_path, check=False)
        asked = Counter(exchange.sample.rpartition("-")[0] for exchange in fake.exchanges)
    assert done.returncode == 0
    paid = {json.loads(line)["sample"] for line in wal.read_text().splitlines()}
    samples = {name: times for name, times in asked.items() if name in paid}
    assert len(paid) == 16
    # Four samplers, so four requests at most were in flight.
    assert sum(times - 1 for times in samples.values()) <= 4
