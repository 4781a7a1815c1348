import resource
import subprocess
import sys

import pytest

from specahd.core import memory_limit
from specahd.core.errors import NotEnoughMemory
from specahd.core.memory_limit import available_memory, require_memory

MIB = 1 << 20


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Let the kernel's files be those that the test writes: a host with 1 GiB left, and swap."""
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 1048576 kB\nSwapFree: 1024 kB")
    (tmp_path / "groups").write_text("")
    monkeypatch.setattr(memory_limit, "_SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory_limit, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory_limit, "_MOUNT", tmp_path / "cgroup")
    return tmp_path


def group(folder, limit, used, stat, names=("memory.max", "memory.current")):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip((*names, "memory.stat"), (limit, used, stat), strict=True):
        (folder / name).write_text(f"{text}\n")


def test_what_the_system_has_is_the_limit_where_nothing_else_is(host):
    assert available_memory() == 1025 * MIB


def test_every_group_around_the_process_counts(host):
    (host / "groups").write_text("0::/outer/inner\n")
    mount = host / "cgroup"
    group(mount / "outer", 600 * MIB, 200 * MIB, f"active_file {MIB}\ninactive_file {2 * MIB}")
    assert available_memory() == 403 * MIB
    group(mount / "outer/inner", "max", 200 * MIB, "")
    assert available_memory() == 403 * MIB
    group(mount / "outer/inner", 250 * MIB, 200 * MIB, "")
    assert available_memory() == 50 * MIB
    group(mount / "outer/inner", 150 * MIB, 200 * MIB, "")
    assert available_memory() == 0


def test_groups_of_the_first_version_and_of_a_container(host):
    # The path is the host's; the container sees its own group as the root.
    (host / "groups").write_text("7:blkio:/docker/a\n4:cpu,memory:/docker/a\n1:name=systemd:/\n")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    root = host / "cgroup" / "memory"
    group(root, 300 * MIB, 100 * MIB, f"total_active_file {MIB}\nactive_file 7", names)
    assert available_memory() == 201 * MIB


def test_a_host_that_says_nothing_refuses_nothing(host):
    (host / "meminfo").unlink()
    assert available_memory() is None
    require_memory(1 << 60, "A block needs")


def test_what_does_not_fit_is_refused_in_one_sentence(host):
    require_memory(1025 * MIB, "A block needs")
    with pytest.raises(NotEnoughMemory) as refused:
        require_memory(3 << 40, "The distance matrix of big needs")
    assert str(refused.value) == (
        "The distance matrix of big needs 3,072.0 GiB of memory, and 1.0 GiB is available."
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads the kernel's files")
def test_the_limit_of_address_space_counts():
    script = (
        "import mmap; from specahd.core.memory_limit import require_memory\n"
        "require_memory(1 << 30, 'A block needs')\n"
        "kept = mmap.mmap(-1, 1 << 30)\n"
        "try: require_memory(1 << 30, 'A block needs')\n"
        "except Exception as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("A block needs 1.0 GiB of memory, and ")
