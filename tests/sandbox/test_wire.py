import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.sandbox import wire
from specahd.sandbox.wire import (
    MAX_ARRAYS,
    MAX_DETAIL,
    MAX_FRAME,
    Frame,
    FrameReader,
    WireError,
    encode,
)

numbers = st.integers(-(2**63), 2**63 - 1)
arrays = st.lists(st.lists(numbers, max_size=6), max_size=6).map(
    lambda rows: tuple(np.array(row, dtype=np.int64) for row in rows)
)
words = st.integers(0, 2**32 - 1)
frames = st.builds(
    Frame,
    code=words,
    number=words,
    instance=words,
    cpu_seconds=st.floats(0, 1e9),
    detail=st.text(st.characters(codec="utf-8"), max_size=60),
    arrays=arrays,
    fallbacks=words,
)


def same(one, other):
    fields = ("code", "number", "instance", "cpu_seconds", "detail", "fallbacks")
    return (
        all(getattr(one, field) == getattr(other, field) for field in fields)
        and len(one.arrays) == len(other.arrays)
        and all(np.array_equal(a, b) for a, b in zip(one.arrays, other.arrays, strict=True))
    )


def decode(data):
    """Return the frame that the bytes are, no more and no less."""
    reader = FrameReader()
    reader.feed(data)
    frame = reader.take()
    if frame is None or len(data) != len(encode(frame)):
        raise WireError("The bytes are not exactly one frame.")
    return frame


@given(st.lists(frames, max_size=4), st.integers(1, 97))
def test_any_cut_of_the_stream_gives_the_same_frames(sent, step):
    stream = b"".join(map(encode, sent))
    reader = FrameReader()
    received = []
    for start in range(0, len(stream), step):
        reader.feed(stream[start : start + step])
        while frame := reader.take():
            received.append(frame)
    assert len(received) == len(sent)
    assert all(map(same, received, sent))


@given(st.binary(max_size=400))
def test_random_bytes(data):
    with pytest.raises(WireError):
        decode(data)


@given(frames, st.data())
def test_damaged_frames_never_crash(frame, data):
    damaged = bytearray(encode(frame))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(WireError):
        decode(bytes(damaged[: data.draw(st.integers(0, len(damaged)))]))


def stream(detail=0, count=0, body=0, seconds=0.0, content=b""):
    """Return a header that states these sizes, and the content after it."""
    return wire._HEADER.pack(wire._MAGIC, detail, count, 0, 0, 0, 0, seconds, body) + content


def lengths(*values):
    return np.array(values, "<i8").tobytes()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (bytes(len(stream())), "no frame"),
        (stream(detail=MAX_DETAIL + 1, body=MAX_DETAIL + 1), "more than it may"),
        (stream(count=MAX_ARRAYS + 1, body=8 * MAX_ARRAYS + 8), "more than it may"),
        (stream(body=MAX_FRAME + 1), "more than it may"),
        (stream(seconds=-1.0), "time"),
        (stream(seconds=math.nan), "time"),
        (stream(seconds=math.inf), "time"),
        (stream(detail=1, count=1, body=8), "less than it holds"),
        (stream(detail=1, body=1, content=b"\xff"), "UTF-8"),
        (stream(body=7, content=bytes(7)), "torn"),
        (stream(count=1, body=8, content=lengths(1)), "add up"),
        (stream(count=1, body=16, content=lengths(0, 5)), "add up"),
        (stream(count=2, body=24, content=lengths(2, -1, 5)), "add up"),
    ],
)
def test_a_frame_that_lies_of_its_sizes_is_refused(sent, reason):
    reader = FrameReader()
    reader.feed(sent)
    with pytest.raises(WireError, match=reason):
        reader.take()


def test_a_frame_may_be_as_large_as_its_bounds():
    full = Frame(0, 0, detail="x" * MAX_DETAIL, arrays=(np.zeros(0, np.int64),) * MAX_ARRAYS)
    for frame in (Frame(0, 0), full):
        assert same(decode(encode(frame)), frame)


@pytest.mark.parametrize(
    "array",
    [np.zeros(2), np.zeros((2, 2), dtype=np.int64), np.zeros(2, dtype=np.int32)],
)
def test_other_arrays_are_refused(array):
    with pytest.raises(WireError, match="int64"):
        encode(Frame(0, 0, arrays=(array,)))


def test_bounds():
    with pytest.raises(WireError, match="bytes"):
        encode(Frame(0, 0, arrays=(np.zeros(MAX_FRAME // 8, dtype=np.int64),)))
    with pytest.raises(WireError, match="arrays"):
        encode(Frame(0, 0, arrays=(np.zeros(0, dtype=np.int64),) * (MAX_ARRAYS + 1)))


def test_long_detail_is_cut_between_characters():
    detail = decode(encode(Frame(0, 0, detail="é" * 400))).detail
    assert detail == "é" * 150


def test_decoded_arrays_are_read_only():
    [array] = decode(encode(Frame(0, 0, arrays=(np.arange(3),)))).arrays
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
