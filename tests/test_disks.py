"""Commands on a disk that is full, or only to be read: one sentence, and nothing half-written."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest

from commands import SMALL, call
from frozen import freeze_seeds

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a disk takes root")

REASONS = {"full": "No space left on device", "read-only": "Read-only file system"}


@contextmanager
def disk(folder, kind):
    """Mount a disk at a folder that takes no byte more; nothing may be written on it."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("this machine mounts no disk")
    try:
        (folder / "there").write_bytes(b"x" * 4096)
        if kind == "read-only":
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield
        # Folders that are empty say nothing, nor do files.
        written = [
            path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_size
        ]
        assert written == ["there"]
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory, data):
    """Pools, a checkpoint and an instance."""
    place = tmp_path_factory.mktemp("place")
    call("prepare", cwd=place)
    freeze_seeds("cvrp", place / "checkpoint")
    shutil.copy(data / "tiny.vrp", place)
    return place


EVALUATE = ["evaluate", "checkpoint=checkpoint", "instance=tiny.vrp"]
COMMANDS = [
    ("read-only", ["train", *SMALL, "hydra.run.dir=disk/run"]),
    ("full", ["train", *SMALL, "hydra.run.dir=disk"]),
    ("read-only", ["train", *SMALL, "hydra.run.dir=run", "pools.dir=disk/pools"]),
    ("read-only", [*EVALUATE, "hydra.run.dir=disk"]),
    ("full", [*EVALUATE, "hydra.run.dir=disk/evaluation"]),
    ("read-only", ["prepare", "pools.dir=disk/pools"]),
    ("full", ["prepare", "pools.dir=disk"]),
]


@pytest.mark.parametrize(("kind", "command"), COMMANDS)
def test_a_command_says_what_it_cannot_write(place, kind, command):
    folder = place / "disk"
    with disk(folder, kind):
        done = call(*command, cwd=place, check=False)
        assert done.returncode == 2, done.stderr
        sentences = [line for line in done.stderr.splitlines() if "Cannot" in line]
        assert len(sentences) == 1, done.stderr
        assert REASONS[kind] in sentences[0]
        assert "disk" in sentences[0]
        assert "Traceback" not in done.stderr
    folder.rmdir()
    assert not (place / "run").exists()
