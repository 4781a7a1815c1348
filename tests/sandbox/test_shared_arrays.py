import json
import os
import subprocess
import sys

import numpy as np
import pytest

from specahd.sandbox.shared_arrays import SharedArrays

LAYOUTS = [
    {"matrix": (np.float64, (3, 3)), "demands": (np.int64, (5,)), "capacity": (np.int64, ())},
    {"matrix": (np.float64, (0, 2))},
    {},
]


@pytest.fixture
def small():
    shared = SharedArrays.allocate(LAYOUTS)
    yield shared
    shared.close()


def test_attached_arrays_are_the_same_memory(small):
    attached = SharedArrays.attach(small.fd, small.directory)
    small.writable(0)["matrix"][:] = 4.0
    small.writable(0)["capacity"][...] = 9
    assert np.all(attached.arrays(0)["matrix"] == 4.0)
    assert attached.arrays(0)["capacity"] == 9
    assert attached.arrays(0)["demands"].dtype == np.int64
    assert attached.arrays(1)["matrix"].shape == (0, 2)
    assert attached.arrays(2) == {}
    assert len(attached) == 3


def test_a_copy_is_other_memory_with_the_same_arrays(small):
    small.writable(0)["matrix"][:] = 4.0
    contents = small.contents()
    with pytest.raises(ValueError, match="read-only"):
        contents[0] = 1
    copy = SharedArrays.copy_of(contents, small.directory)
    small.writable(0)["matrix"][:] = 5.0
    assert np.all(copy.arrays(0)["matrix"] == 4.0)
    assert copy.arrays(0)["demands"].dtype == np.int64
    copy.close()
    with pytest.raises(ValueError, match="closed"):
        copy.contents()


def test_arrays_are_aligned(small):
    for array in small.arrays(0).values():
        assert array.ctypes.data % 64 == 0


def test_only_the_creator_writes(small):
    attached = SharedArrays.attach(small.fd, small.directory)
    with pytest.raises(ValueError, match="read-only"):
        small.arrays(0)["matrix"][0, 0] = 1.0
    with pytest.raises(ValueError, match="WRITEABLE"):
        attached.arrays(0)["matrix"].flags.writeable = True
    with pytest.raises(ValueError, match="allocated"):
        attached.writable(0)


@pytest.mark.skipif(sys.platform != "linux", reason="sealing is Linux's")
def test_the_kernel_refuses_other_writers(small):
    with pytest.raises(PermissionError):
        os.pwrite(small.fd, b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(small.fd, 1)


def test_closing_leaves_arrays_usable_and_frees_the_descriptor():
    shared = SharedArrays.allocate(LAYOUTS)
    fd = shared.fd
    demands = shared.arrays(0)["demands"]
    shared.close()
    shared.close()
    assert demands.sum() == 0
    with pytest.raises(ValueError, match="closed"):
        shared.arrays(0)
    with pytest.raises(OSError):
        os.fstat(fd)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_large_matrix_exists_once():
    script = """
import json, sys
from pathlib import Path
from specahd.sandbox.shared_arrays import SharedArrays
attached = SharedArrays.attach(int(sys.argv[1]), json.loads(sys.argv[2]))
total = attached.arrays(0)["matrix"].sum()
fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps([total, int(fields["RssAnon"].split()[0])]))
"""
    shared = SharedArrays.allocate([{"matrix": (np.float64, (3000, 3000))}])
    shared.writable(0)["matrix"][:] = 1.0
    answer = subprocess.run(
        [sys.executable, "-c", script, str(shared.fd), json.dumps(shared.directory)],
        pass_fds=(shared.fd,),
        capture_output=True,
        check=True,
        text=True,
    )
    total, private_kilobytes = json.loads(answer.stdout)
    assert total == 3000 * 3000
    assert private_kilobytes < 60_000
    shared.close()
