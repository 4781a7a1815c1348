"""What is kept of a server's vectors on disk."""

import subprocess
import sys

import numpy as np
import pytest
from embedded_programs import memory, program
from fake_embedding_server import FakeEmbeddingServer

from specahd.memory.embedding import VectorCache

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


def test_another_model_option_or_text_is_another_vector(tmp_path):
    cache = VectorCache(tmp_path)
    cache.put("a/b", {}, "text", VECTOR)
    for key in (("other", {}, "text"), ("a/b", {"dimensions": 8}, "text"), ("a/b", {}, "text ")):
        assert cache.get(*key) is None
    # Their folders are called alike.
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


def test_a_second_run_asks_only_for_what_is_new_or_damaged(tmp_path):
    def judged(count):
        compared = memory(fake_server, cache=str(tmp_path / "kept"))
        return [compared.judge(program(index)) for index in range(count)]

    with FakeEmbeddingServer() as fake_server:
        judged(3)
        first = judged(5)
        assert len(fake_server.embedded) == len(set(fake_server.embedded)) == 2 * 5
        files(tmp_path)[0].write_bytes(b"torn")
        assert judged(5) == first
        assert len(fake_server.embedded) == 2 * 5 + 1
    assert first[2].nearest is not None


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


ENDLESS = """
import sys
from pathlib import Path
import numpy as np
from specahd.memory.embedding import VectorCache
cache = VectorCache(Path(sys.argv[1]))
for index in range(10**9):
    cache.put("model", {}, f"text {index % 7}", np.full(250_000, index % 7, np.float32))
    if index == 7:
        print("ready", flush=True)
"""


def test_processes_that_share_a_folder_and_are_killed_leave_whole_vectors(tmp_path):
    def all_are_whole():
        cache = VectorCache(tmp_path)
        return all((cache.get("model", {}, f"text {i}") == i).all() for i in range(7))

    for _ in range(2):
        command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
        writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
        try:
            for writer in writers:
                assert writer.stdout.readline()
            for writer in writers:
                # Others still write.
                assert all_are_whole()
                writer.kill()
        finally:
            for writer in writers:
                writer.kill()
                writer.communicate()
        assert all_are_whole()
