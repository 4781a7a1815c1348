"""The memory that this process can still get, checked before a large allocation."""

import resource
from collections.abc import Iterator
from pathlib import Path

from specahd.core.errors import NotEnoughMemory

_SYSTEM = Path("/proc/meminfo")
_OWN = Path("/proc/self/statm")
_GROUPS = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
_VERSION_2 = ("memory.max", "memory.current", "")
_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30


def require_memory(size: int, what: str) -> None:
    """Refuse an allocation that does not fit; the kernel would kill the process instead.

    Parameters
    ----------
    size
        Bytes of the allocation.
    what
        Beginning of the message: ``The distance matrix of X-n101-k25 needs``.

    Raises
    ------
    NotEnoughMemory
        Less is available.
    """
    available = available_memory()
    if available is not None and size > available:
        raise NotEnoughMemory(
            f"{what} {_format_size(size)} of memory, and {_format_size(available)} is available."
        )


def available_memory() -> int | None:
    """Return the bytes that this process can still get; None if the host does not report them.

    They are the minimum of the system's available memory (swap included), the memory left in
    the control groups of this process, and the memory left in its limit of address space.
    """
    return min((*_system_memory(), *_control_groups_memory(), *_address_space_left()), default=None)


def _system_memory() -> Iterator[int]:
    facts = _read_table(_SYSTEM)
    if "MemAvailable" in facts:
        yield (facts["MemAvailable"] + facts.get("SwapFree", 0)) * _KIB


def _address_space_left() -> Iterator[int]:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = _read(_OWN).split()
        used = int(pages[0]) * resource.getpagesize() if pages else 0
        yield max(0, limit - used)


def _control_groups_memory() -> Iterator[int]:
    """Yield the free bytes of each control group around this process, of either version."""
    for line in _read(_GROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            root, names = _MOUNT / "memory", _VERSION_1
        elif not controllers:
            root, names = _MOUNT, _VERSION_2
        else:
            continue
        folder = root / path.lstrip("/")
        # Inside a container the path may be the host's: then only the root exists.
        for place in (folder, *folder.parents):
            if place.is_relative_to(root):
                yield from _control_group_memory(place, *names)


def _control_group_memory(folder: Path, limit: str, usage: str, prefix: str) -> Iterator[int]:
    most, used = _read(folder / limit).strip(), _read(folder / usage).strip()
    if most.isdecimal() and used.isdecimal():
        facts = _read_table(folder / "memory.stat")
        # Cached file contents count as used, but the kernel frees them when memory is needed.
        cached = sum(facts.get(f"{prefix}{kind}_file", 0) for kind in ("active", "inactive"))
        yield max(0, int(most) - int(used) + cached)


def _read_table(path: Path) -> dict[str, int]:
    """Return the numbers of a kernel file by name; a line is a name, a number and maybe ``kB``."""
    lines = (line.replace(":", " ").split() for line in _read(path).splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdecimal()}


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _format_size(size: int) -> str:
    return f"{size / _GIB:,.1f} GiB" if size >= _GIB else f"{size / _MIB:,.1f} MiB"
