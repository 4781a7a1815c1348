"""The wire format of calls and results: bounded frames of plain bytes.

A frame is a fixed header, the lengths of its arrays, their int64 values, and a
short text. Nothing in it names a type or an object, so decoding cannot run code.
Every field is checked against a hard bound before it is used.
"""

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

MAX_FRAME = 16 << 20
MAX_ARRAYS = 65_536
MAX_DETAIL = 300
COMPILING = "compiling"
"""A zygote's report that it compiles while warming up."""

# Magic, detail length, array count, code, call number, instance, fallbacks, CPU seconds, body
# length.
_HEADER = struct.Struct("<4sHxxIIIIIdQ")
_MAGIC = b"AHD1"
_LENGTH = np.dtype("<i8")


_MAX_READ = 1000
_ADDRESS = re.compile(r"0x[0-9A-Fa-f]+")
_DIRECTORY = re.compile(r"(?<![\w./~-])/(?:[\w.+~-]+/)+")


class WireError(Exception):
    """A frame is too large, torn, or invalid."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One call or one reply.

    Parameters
    ----------
    code
        In a call, the program's index; in a reply, the position of its Outcome.
    number
        The number of the call in this child; the reply repeats it.
    instance
        In a call, the instance's index in the shared arrays; 0 in a reply.
    cpu_seconds
        In a call, a limit of its own, 0 for none; in a reply, what it took; finite, at least 0.
    detail
        In a reply, one line of at most 300 bytes.
    arrays
        One-dimensional, read-only when decoded.
    fallbacks
        In a reply, the number of choices of the program that were replaced; below 2**32.
    """

    code: int
    number: int
    instance: int = 0
    cpu_seconds: float = 0.0
    detail: str = ""
    arrays: tuple[IntArray, ...] = ()
    fallbacks: int = 0


def encode(frame: Frame) -> bytes:
    """Return the frame as bytes; a detail that is too long is cut.

    Raises
    ------
    WireError
        The frame exceeds the bounds, or an array is not one-dimensional int64.
    """
    arrays = frame.arrays
    if len(arrays) > MAX_ARRAYS:
        raise WireError(f"A frame holds at most {MAX_ARRAYS} arrays, got {len(arrays)}.")
    for array in arrays:
        if array.dtype != np.int64 or array.ndim != 1:
            raise WireError("A frame holds one-dimensional arrays of int64 only.")
    detail = frame.detail.encode("utf-8", "replace")[:MAX_DETAIL]
    detail = detail.decode("utf-8", "ignore").encode()
    lengths = np.fromiter((array.size for array in arrays), _LENGTH, len(arrays))
    body = 8 * (len(arrays) + int(lengths.sum())) + len(detail)
    if body > MAX_FRAME:
        raise WireError(f"A frame holds at most {MAX_FRAME} bytes, got {body}.")
    header = _HEADER.pack(
        _MAGIC,
        len(detail),
        len(arrays),
        frame.code,
        frame.number,
        frame.instance,
        frame.fallbacks,
        frame.cpu_seconds,
        body,
    )
    values = (array.astype("<i8", copy=False).tobytes() for array in arrays)
    return b"".join((header, lengths.tobytes(), *values, detail))


class FrameReader:
    """A parser that splits a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._buffer += data

    def take(self) -> Frame | None:
        """Return the next frame; return None while it is incomplete.

        Raises
        ------
        WireError
            The bytes are not a frame; the stream cannot be read any further.
        """
        if len(self._buffer) < _HEADER.size:
            return None
        magic, detail, count, code, number, instance, fallbacks, seconds, body = (
            _HEADER.unpack_from(self._buffer)
        )
        if magic != _MAGIC:
            raise WireError("The bytes are no frame.")
        if detail > MAX_DETAIL or count > MAX_ARRAYS or body > MAX_FRAME:
            raise WireError("A frame declares more than it may hold.")
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise WireError("A frame declares an impossible time.")
        if body < 8 * count + detail:
            raise WireError("A frame declares less than it holds.")
        end = _HEADER.size + body
        if len(self._buffer) < end:
            return None
        content = bytes(memoryview(self._buffer)[_HEADER.size : end])
        del self._buffer[:end]
        try:
            text = content[body - detail :].decode("utf-8")
        except UnicodeDecodeError as error:
            raise WireError("A frame's text is not UTF-8.") from error
        arrays = _decode_arrays(content[: body - detail], count)
        return Frame(code, number, instance, seconds, text, arrays, fallbacks)


def _decode_arrays(data: bytes, count: int) -> tuple[IntArray, ...]:
    if len(data) % 8:
        raise WireError("A frame's arrays are torn.")
    words = np.frombuffer(data, "<i8").astype(np.int64, copy=False)
    # Python integers: their sum cannot overflow.
    lengths: Sequence[int] = words[:count].tolist()
    if min(lengths, default=0) < 0 or sum(lengths) != words.size - count:
        raise WireError("A frame's arrays do not add up.")
    arrays = []
    start = count
    for length in lengths:
        arrays.append(words[start : start + length])
        start += length
    return tuple(arrays)


def one_line(text: str) -> str:
    """Return a text without line breaks, addresses of objects and directories of this machine.

    Children send their details in this form, so the journal of an honest program is the
    same in every run. The parent converts them again, because no child is trusted.
    """
    text = _ADDRESS.sub("0x0", text[:_MAX_READ])
    return " ".join(_DIRECTORY.sub("", text).split())


def describe_error(error: BaseException) -> str:
    """Return the type and message of an exception; for a system error, the type and reason."""
    try:
        message = error.strerror if isinstance(error, OSError) else str(error)
    except Exception:  # noqa: BLE001  the message may hold anything, nested to any depth
        message = ""
    return one_line(f"{type(error).__name__}: {message}" if message else type(error).__name__)
