"""Cassettes: what was answered is answered again, and a replayed run is the same run."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from client_setup import CONTRACT

from commands import SMALL, call
from specahd.core import journal
from specahd.core.contract import Operator, Request
from specahd.core.errors import ConfigError, FileError, ServiceError, TransportError
from specahd.core.program import Level
from specahd.core.proposer import Reply
from specahd.core.tariff import FREE
from specahd.llm.offline import OfflineProposer
from specahd.llm.recorded import Recorded, Recorder
from specahd.methods.eoh import INITIAL

REQUEST = Request(CONTRACT, 0, Level.LOWER, 1, 0, INITIAL, prompt="Write one.")
LINE = {"hash": "h", "reply": "r", "prompt_tokens": 1, "completion_tokens": 2, "cost": 0.5}


class Service:
    """Answers with one text."""

    def __init__(self, text="{Least.}"):
        self.text = text
        self.ready = True

    def preflight(self, contracts=()):
        if not self.ready:
            raise ServiceError("No credit.")

    def tariff(self, request=None):
        return FREE

    def propose(self, request):
        return Reply(self.text, 11, 7, 0.25)


def requests(count=40):
    return [replace(REQUEST, index=index) for index in range(count)]


def test_what_was_recorded_is_replayed_from_any_thread(tmp_path):
    path = tmp_path / "cassette.jsonl"
    recorder = Recorder(OfflineProposer(), path)
    recorder.preflight()
    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(recorder.propose, requests()))
    replayed = Recorded(path)
    replayed.preflight()
    with ThreadPoolExecutor(8) as pool:
        again = list(pool.map(replayed.propose, requests()))
    assert again == first == [OfflineProposer().propose(request) for request in requests()]


@pytest.mark.parametrize(
    "text", ["", "\r\n\t\0", "\ud800", "Ça\u2028🚚\ufeff", '{"a": [1]}\\', "x" * 1_000_000]
)
def test_any_text_comes_back_as_it_was(tmp_path, text):
    path = tmp_path / "cassette.jsonl"
    reply = Recorder(Service(text), path).propose(REQUEST)
    assert Recorded(path).propose(REQUEST) == reply == Reply(text, 11, 7, 0.25)


@pytest.fixture
def path(tmp_path):
    """A cassette with the reply to one request."""
    Recorder(Service(), tmp_path / "cassette.jsonl").propose(REQUEST)
    return tmp_path / "cassette.jsonl"


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"round": 2},
        {"index": 1},
        {"operator": Operator("m1", "Modify it.", 1)},
        {"prompt": "Write another."},
    ],
    ids=str,
)
def test_another_request_has_no_reply(path, change):
    other = replace(REQUEST, **change)
    with pytest.raises(ServiceError, match=f"{path} has no reply .* for {other.id};"):
        Recorded(path).propose(other)


@pytest.mark.parametrize("change", [{"prompt": "Write another."}, {"seed": 1}], ids=str)
def test_by_sample_a_reply_answers_another_request_for_it(path, capsys, change):
    replayed = Recorded(path, "sample")
    replayed.preflight()
    assert f"llm.match=sample: {path} answers by sample" in capsys.readouterr().err
    assert replayed.propose(replace(REQUEST, **change)).text == "{Least.}"
    with pytest.raises(ServiceError, match=r"has no reply for lower-1-0001\.$"):
        replayed.propose(replace(REQUEST, index=1))


def test_by_sample_the_last_reply_to_one_request_counts(path):
    Recorder(Service("after"), path).propose(REQUEST)
    assert Recorded(path, "sample").propose(replace(REQUEST, prompt="Other.")).text == "after"


def test_by_sample_a_cassette_of_two_runs_and_one_without_samples_are_refused(path):
    Recorder(Service(), path).propose(replace(REQUEST, seed=1))
    Recorded(path)
    with pytest.raises(FileError, match="line 2 answers another request for lower-1-0000"):
        Recorded(path, "sample")
    path.write_text(json.dumps(LINE) + "\n")
    Recorded(path)
    with pytest.raises(FileError, match=r"line 1 .*missing required field sample"):
        Recorded(path, "sample")


def test_replies_are_found_by_hash_unless_asked_and_by_nothing_else(path, capsys):
    Recorded(path).preflight()
    assert capsys.readouterr().err == ""
    with pytest.raises(ConfigError, match=r"llm\.match .* hash, sample"):
        Recorded(path, "prompt")


def test_a_cassette_holds_replies_and_nothing_else(path):
    [record] = journal.read_records(path)
    assert record.keys() == LINE.keys() | {"sample"}


def test_a_lost_request_is_not_recorded(tmp_path):
    class Lost(Service):
        def propose(self, request):
            raise TransportError("Connection reset.")

    path = tmp_path / "cassette.jsonl"
    recorder = Recorder(Lost(), path)
    recorder.preflight()
    with pytest.raises(TransportError):
        recorder.propose(REQUEST)
    assert path.read_text() == ""


def test_a_resumed_run_continues_the_cassette_and_its_last_reply_counts(path):
    with path.open("a") as file:
        file.write('{"hash": "torn by a ki')
    recorder = Recorder(Service("after"), path)
    recorder.preflight()
    for request in requests(2):
        recorder.propose(request)
    assert len(list(journal.read_records(path))) == 3
    assert [Recorded(path).propose(request).text for request in requests(2)] == ["after", "after"]


BAD = {
    "text": ("# A title\n", "line 1 is not a JSON record"),
    "text without an end": ("A note", "line 1 is not complete"),
    "no hash": (json.dumps({**LINE, "hash": None}) + "\n", "line 1 .*hash: expected str, got null"),
    "tokens of a wrong type": (
        json.dumps({**LINE, "prompt_tokens": "3"}) + "\n",
        "line 1 .*prompt_tokens: expected int, got str",
    ),
    **{
        f"{field} of {digits} digits": (
            json.dumps({**LINE, field: 0}).replace(": 0", ": " + "9" * digits) + "\n",
            "line 1 is not a JSON record",
        )
        for field in ("prompt_tokens", "completion_tokens", "cost")
        for digits in (400, 4000, 4301)
    },
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_cassette_is_refused_and_left_as_it_is(tmp_path, name):
    content, reason = BAD[name]
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(FileError, match=reason) as refusal:
        Recorded(path)
    assert str(refusal.value).startswith(str(path))
    with pytest.raises(FileError, match=reason):
        Recorder(Service(), path).preflight()
    assert path.read_text() == content


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "gone.jsonl", tmp_path):
        with pytest.raises(FileError, match="is not a file; expected a cassette"):
            Recorded(path)
    with pytest.raises(FileError, match=r"no-folder/cassette\.jsonl: No such file"):
        Recorder(Service(), tmp_path / "no-folder" / "cassette.jsonl").preflight()


def test_the_proposer_is_asked_first_whether_it_can_answer(tmp_path):
    service = Service()
    service.ready = False
    with pytest.raises(ServiceError, match="No credit"):
        Recorder(service, tmp_path / "cassette.jsonl").preflight()
    assert list(tmp_path.iterdir()) == []


MORE = [*SMALL, "budget.programs=24", "method.policy.population=3"]
# Like a language model it never says the same twice, and sometimes nothing of use.
MOODY = """
import os
from dataclasses import replace

from specahd.core.proposer import Reply
from specahd.llm.offline import OfflineProposer


class Moody(OfflineProposer):
    def propose(self, request):
        mood = int.from_bytes(os.urandom(4), "big")
        if mood % 5 == 0:
            return Reply("Sorry, not today.", 3, 4, 0.001)
        return replace(super().propose(replace(request, seed=mood)), cost=0.002)
"""


def train(place, run, *options, cold=False):
    words = [*MORE, f"hydra.run.dir={run}", *options]
    return call("train", *words, cwd=place, check=False, cold=cold)


def lasting(run):
    """Return what two equal runs share: journal, score vectors, rows and checkpoint."""
    paths = [run / name for name in ("journal.jsonl", "responses.jsonl", "validation.jsonl")]
    paths += sorted(path for path in (run / "checkpoint").rglob("*") if path.is_file())
    return {path.relative_to(run): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    place = tmp_path_factory.mktemp("recorded")
    (place / "moody.py").write_text(MOODY)
    options = ["llm._target_=moody.Moody", "record=cassette.jsonl"]
    done = train(place, "first", *options, cold=True)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.integration
@pytest.mark.parametrize("cassette", ["cassette.jsonl", "first/wal.jsonl"])
def test_a_replayed_training_is_the_same_to_the_byte(recorded, tmp_path, cassette):
    done = train(
        recorded, tmp_path / "again", "llm=recorded", f"llm.path={cassette}", "executor.workers=1"
    )
    assert done.returncode == 0, done.stderr
    first = lasting(recorded / "first")
    assert lasting(tmp_path / "again") == first
    assert b'"operator":"m1"' in first[Path("journal.jsonl")]


def test_a_missing_cassette_is_refused_before_anything_is_written(tmp_path):
    done = train(tmp_path, "run", "llm=recorded")
    assert done.returncode == 2
    assert done.stderr.startswith("cassette.jsonl is not a file")
    assert list(tmp_path.iterdir()) == []
