"""What is kept of a server's vectors on disk."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from embedded_programs import memory, program
from fake_embedding_server import FakeEmbeddingServer

from specahd.memory.vectors import VectorCache

VECTOR = np.arange(1, 33, dtype=np.float32) / 7


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_vector_comes_back_bit_for_bit(tmp_path):
    VectorCache(tmp_path).put("owner/model", {}, "text", VECTOR)
    again = VectorCache(tmp_path)
    assert (again.get("owner/model", {}, "text") == VECTOR).all()
    [path] = files(tmp_path)
    assert path.stat().st_size == 4 * len(VECTOR) + 16
    assert path.relative_to(tmp_path).parts[0] == "owner-model"


@pytest.mark.parametrize(
    ("model", "options", "text"),
    [("other", {}, "text"), ("model", {"dimensions": 8}, "text"), ("model", {}, "text ")],
)
def test_another_model_option_or_text_is_another_vector(tmp_path, model, options, text):
    cache = VectorCache(tmp_path)
    cache.put("model", {}, "text", VECTOR)
    assert cache.get(model, options, text) is None


def test_models_whose_folders_are_called_alike_do_not_mix(tmp_path):
    cache = VectorCache(tmp_path)
    cache.put("a/b", {}, "text", VECTOR)
    assert cache.get("a-b", {}, "text") is None
    cache.put("../..", {}, "text", VECTOR)
    assert (cache.get("../..", {}, "text") == VECTOR).all()
    assert len(files(tmp_path)) == 2


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "of another text"])
def test_a_file_that_is_not_what_was_written_counts_as_missing(tmp_path, damage):
    cache = VectorCache(tmp_path)
    cache.put("model", {}, "text", VECTOR)
    [path] = files(tmp_path)
    content = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(content[:40])
        case "empty":
            path.write_bytes(b"")
        case "changed":
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case _:
            cache.put("model", {}, "other", VECTOR)
            [other] = set(files(tmp_path)) - {path}
            path.write_bytes(other.read_bytes())
    assert cache.get("model", {}, "text") is None
    cache.put("model", {}, "text", VECTOR)
    assert (cache.get("model", {}, "text") == VECTOR).all()


def test_without_a_folder_nothing_is_kept():
    cache = VectorCache(None)
    cache.require()
    cache.put("model", {}, "text", VECTOR)
    assert cache.get("model", {}, "text") is None


def test_a_folder_that_cannot_be_written_costs_a_warning(tmp_path, caplog):
    (tmp_path / "model").touch()
    cache = VectorCache(tmp_path)
    cache.put("model", {}, "text", VECTOR)
    cache.put("model", {}, "other", VECTOR)
    assert cache.get("model", {}, "text") is None
    assert len(caplog.records) == 1


def test_a_second_run_asks_only_for_what_is_new(tmp_path):
    with FakeEmbeddingServer() as fake_server:
        for count in (3, 5):
            compared = memory(fake_server, cache=str(tmp_path / "kept"))
            verdicts = [compared.judge(program(index)) for index in range(count)]
    assert len(fake_server.embedded) == len(set(fake_server.embedded)) == 2 * 5
    assert verdicts[2].nearest is not None


def test_a_damaged_vector_is_asked_for_again(tmp_path):
    with FakeEmbeddingServer() as fake_server:
        first = [memory(fake_server, cache=str(tmp_path)).judge(program(i)) for i in range(2)]
        compared = memory(fake_server, cache=str(tmp_path))
        first = [compared.judge(program(index)) for index in range(2)]
        count = len(fake_server.embedded)
        files(tmp_path)[0].write_bytes(b"torn")
        compared = memory(fake_server, cache=str(tmp_path))
        again = [compared.judge(program(index)) for index in range(2)]
    assert again == first
    assert len(fake_server.embedded) == count + 1


def test_what_came_before_a_failure_is_kept(tmp_path):
    with FakeEmbeddingServer("good", *["503"] * 99) as fake_server:
        compared = memory(fake_server, models={"first": "small"}, batch=1, cache=str(tmp_path))
        compared.judge(program(1))
        with pytest.raises(Exception, match="gave no vectors"):
            compared.judge(program(2))
        fake_server.faults.clear()
        compared = memory(fake_server, models={"first": "small"}, batch=1, cache=str(tmp_path))
        for index in (1, 2):
            compared.judge(program(index))
    assert len(fake_server.embedded) == len(set(fake_server.embedded)) == 2


def write(folder, start):
    cache = VectorCache(folder)
    for index in range(start, start + 60):
        cache.put("model", {}, f"text {index % 80}", VECTOR + index % 80)


def test_processes_share_a_folder(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write, args=(tmp_path, start)) for start in (0, 20, 40)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    cache = VectorCache(tmp_path)
    for index in range(80):
        assert (cache.get("model", {}, f"text {index}") == VECTOR + index).all()
    assert len(files(tmp_path)) == 80


ENDLESS = """
import sys
from pathlib import Path
import numpy as np
from specahd.memory.vectors import VectorCache
cache = VectorCache(Path(sys.argv[1]))
for index in range(10**9):
    cache.put("model", {}, f"text {index % 7}", np.full(250_000, index % 7, np.float32))
    if index == 7:
        print("ready", flush=True)
"""


def test_a_kill_leaves_whole_vectors_or_none(tmp_path):
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        cache = VectorCache(tmp_path)
        for index in range(7):
            assert (cache.get("model", {}, f"text {index}") == index).all()
