"""A service that repeats the key in all that it says, and where the key must not be afterwards."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
import pytest
from client_setup import CONTRACT, proposer, request, serve
from server import Server
from server_behaviour import Schedule, Script, offline
from test_masking import SPELLINGS, letters
from test_training import STALL, train

from commands import call
from specahd.core.errors import ServiceError
from specahd.core.services import EncoderOptions
from specahd.llm.parsing import parse_reply
from specahd.llm.recorded import Recorded, Recorder
from specahd.memory.embedding import Endpoint

# Its digits are nowhere by chance, as 0123456789 are in a table.
CANARY = "sk-canary-7f3d91c0a6e2b854"
WAYS = ("as it is", "capitals", "lines", "per cent")
PIECES = [letters(CANARY)[i : i + 12] for i in range(len(letters(CANARY)) - 11)]


def tells(text):
    """Say whether a text holds the key, or a piece of it."""
    there = letters(text)
    return any(piece in there or piece[::-1] in there for piece in PIECES)


def echo(write, way):
    """Have replies repeat the key in the prose, in the idea, and in the program's constants."""
    told = SPELLINGS[way](CANARY)

    def answer(prompt, sample):
        reply = write(prompt, sample)
        if way != "lines":
            reply = reply.replace("{", f"Sent with {told}.\n{{{told}: ", 1)
            reply = reply.replace("    return", f"    key = {told!r}\n    return", 1)
        return f"{reply}\n# {told}"

    return answer


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", WAYS)
def test_a_reply_and_its_cassette_are_without_the_key(tmp_path, monkeypatch, way, stream):
    monkeypatch.setenv("A_KEY", CANARY)
    with Server(echo(offline(1), way), Script()) as server:
        asked = proposer(server, api_key_env="A_KEY", stream=stream)
        reply = Recorder(asked, tmp_path / "cassette").propose(request())
    assert "***" in reply.text
    assert not tells(reply.text)
    assert not tells((tmp_path / "cassette").read_text())
    replayed = Recorded(tmp_path / "cassette").propose(request())
    assert replayed == reply
    assert "***" in "".join(parse_reply(reply.text, CONTRACT)) or way == "lines"


@pytest.mark.parametrize("way", WAYS)
def test_no_message_of_an_embedding_server_tells_it(monkeypatch, way):
    monkeypatch.setenv("A_KEY", CANARY)
    with serve(models=(SPELLINGS[way](CANARY),), spell=SPELLINGS[way]) as server:
        endpoint = Endpoint(EncoderOptions(base_url=server.url, api_key_env="A_KEY", attempts=1))
        with pytest.raises(ServiceError) as refusal:
            endpoint.preflight(endpoint.service("encoder", "memory.models.one"))
    assert "has no model encoder" in str(refusal.value)
    assert "***" in str(refusal.value)
    assert not tells(str(refusal.value))


@pytest.mark.integration
def test_the_key_is_in_no_file_and_in_no_process_beside_the_run(tmp_path):
    faults = Schedule(seed=5, faults=0.1)
    server = Server(echo(offline(1), "as it is"), faults, key=CANARY, stall=STALL, wait=0)
    options = [
        *("llm.api_key_env=MY_KEY", "record=cassette.jsonl", "hydra.run.dir=run"),
        *("tracking.traces=true", "tracking.patience=180", "search.samplers=1"),
    ]
    keys = {"MY_KEY": CANARY, "SPECAHD_API_KEY_FILE": str(tmp_path.parent / f"{CANARY}.txt")}
    seen = set()
    with server as fake, ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            train, tmp_path, fake.url, *options, env=keys, tracking="mlflow", programs=12,
            cold=True,
        )  # fmt: skip
        while not running.done():
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    command, variables = child.cmdline(), child.environ()
                    if "-m" in command and command[command.index("-m") + 1] != "specahd.train":
                        seen.add(command[command.index("-m") + 1])
                        assert not tells(str(variables)), command
            time.sleep(0.1)
        done = running.result()
    assert seen >= {"specahd.tracking.mlflow", "specahd.sandbox.zygote"}
    assert not tells(done.stdout + done.stderr)
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = {path.name for path in kept}
    assert {"mlflow.db", "cassette.jsonl", "wal.jsonl", "candidates.json"} <= names
    assert [path for path, content in kept.items() if tells(content.decode(errors="replace"))] == []
    assert b"***" in kept[tmp_path / "run" / "wal.jsonl"]

    # Without the key, what was written is what a replay and a resumed run read.
    journal = tmp_path / "run" / "journal.jsonl"
    recorded = ("llm=recorded", "llm.path=cassette.jsonl")
    train(tmp_path, None, "hydra.run.dir=replay", programs=12, llm=recorded)
    assert (tmp_path / "replay" / "journal.jsonl").read_bytes() == kept[journal]
    whole = kept[journal].splitlines(keepends=True)
    journal.write_bytes(b"".join(whole[: len(whole) // 2]))
    call("train", "resume=run", "tracking=none", *recorded, cwd=tmp_path)
    assert journal.read_bytes() == kept[journal]


@pytest.mark.parametrize(
    "option",
    [
        f"llm.api_key_env={CANARY}",
        f"llm.base_url='http://127.0.0.1:9/v1?key={CANARY}'",
        f"memory.api_key_env={CANARY}",
    ],
)
def test_a_sweep_that_names_a_key_is_refused_before_anything_is_kept(tmp_path, option):
    options = ["llm=local", "llm.model=tested", "llm.base_url=http://127.0.0.1:9/v1"]
    options += ["memory=jina", option, "-m", "seed=0,1"]
    done = call("train", *options, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    [sentence] = done.stderr.splitlines()
    group, _, name = option.partition("=")[0].partition(".")
    assert sentence.startswith(f"Expected {group}.{name} to ")
    assert "canary" not in sentence
    assert list(tmp_path.iterdir()) == []
