"""One block of memory for the arrays of many instances, shared by all processes.

A float64 matrix of 10,001 nodes takes 800 MB, so it exists once for all processes
that read it. The creator fills the block. All other processes map it read-only,
and on Linux the kernel refuses to make those mappings writable again.
"""

import fcntl
import math
import mmap
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Layout = Mapping[str, tuple[type[np.generic], tuple[int, ...]]]
Directory = list[dict[str, list[Any]]]

ALIGNMENT = 64
# Not in the fcntl module of Python 3.11 (linux/fcntl.h).
_F_SEAL_FUTURE_WRITE = 0x10


class SharedArrays:
    """The named arrays of several instances in one shared block.

    Make one with :meth:`allocate`, :meth:`attach` or :meth:`copy_of`.
    """

    def __init__(self, fd: int, directory: Directory, block: mmap.mmap) -> None:
        self.fd = fd
        self.directory = directory
        self._block: mmap.mmap | None = block

    @classmethod
    def allocate(cls, layouts: Sequence[Layout]) -> Self:
        """Make a block of zeros with room for every array of every instance.

        Parameters
        ----------
        layouts
            Per instance, the dtype and shape of each array.
        """
        directory: Directory = []
        end = 0
        for layout in layouts:
            entry: dict[str, list[Any]] = {}
            for name, (scalar, shape) in layout.items():
                entry[name] = [end, np.dtype(scalar).str, list(shape)]
                end += _aligned(scalar, shape)
            directory.append(entry)
        return cls._make(max(end, ALIGNMENT), directory)

    @classmethod
    def copy_of(cls, contents: NDArray[np.uint8], directory: Directory) -> Self:
        """Make a block with the :meth:`contents` of another, which may be on another machine."""
        shared = cls._make(len(contents), directory)
        np.frombuffer(shared._mapped(), np.uint8)[:] = contents
        return shared

    @classmethod
    def _make(cls, size: int, directory: Directory) -> Self:
        fd = _anonymous_file(size)
        block = mmap.mmap(fd, size)
        _forbid_writers(fd)
        return cls(fd, directory, block)

    @classmethod
    def attach(cls, fd: int, directory: Directory) -> Self:
        """Map a block that another process allocated, for reading."""
        block = mmap.mmap(fd, os.fstat(fd).st_size, prot=mmap.PROT_READ)
        return cls(fd, directory, block)

    def __len__(self) -> int:
        return len(self.directory)

    def writable(self, instance: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of an instance for the creator to fill.

        Raises
        ------
        ValueError
            This process mapped the block read-only.
        """
        arrays = self._views(instance)
        if not all(array.flags.writeable for array in arrays.values()):
            raise ValueError("Only the process that allocated the arrays writes to them.")
        return arrays

    def arrays(self, instance: int) -> dict[str, NDArray[Any]]:
        """Return read-only views of the arrays of an instance."""
        arrays = self._views(instance)
        for array in arrays.values():
            array.flags.writeable = False
        return arrays

    def instances(self) -> list[dict[str, NDArray[Any]]]:
        """Return read-only views of the arrays of all instances."""
        return [self.arrays(instance) for instance in range(len(self))]

    def contents(self) -> NDArray[np.uint8]:
        """Return a read-only view of the whole block, byte by byte."""
        contents = np.frombuffer(self._mapped(), np.uint8)
        contents.flags.writeable = False
        return contents

    def _views(self, instance: int) -> dict[str, NDArray[Any]]:
        block = self._mapped()
        return {
            name: np.ndarray(shape, np.dtype(dtype), block, offset)
            for name, (offset, dtype, shape) in self.directory[instance].items()
        }

    def _mapped(self) -> mmap.mmap:
        if self._block is None:
            raise ValueError("The shared arrays are closed.")
        return self._block

    def close(self) -> None:
        """Release the block; it is freed with the last array that still uses it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            # The last user unmaps it: closing it here would invalidate NumPy's arrays.
            self._block = None


def block_size(layout: Layout) -> int:
    """Return the bytes that the arrays of an instance take in a block."""
    return sum(_aligned(scalar, shape) for scalar, shape in layout.values())


def _aligned(scalar: type[np.generic], shape: tuple[int, ...]) -> int:
    size = np.dtype(scalar).itemsize * math.prod(shape)
    return -(-size // ALIGNMENT) * ALIGNMENT


def _anonymous_file(size: int) -> int:
    """Return a descriptor of a file that has no name and is freed with its last user."""
    if sys.platform == "linux":
        fd = os.memfd_create("specahd-arrays", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, size)
    return fd


def _forbid_writers(fd: int) -> None:
    """Make all later mappings read-only; the existing one stays writable."""
    if sys.platform == "linux":
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | _F_SEAL_FUTURE_WRITE
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals | fcntl.F_SEAL_SEAL)
