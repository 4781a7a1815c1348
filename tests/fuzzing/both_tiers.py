"""Run a program in both tiers, in the children of a real sandbox, and compare what it does.

The compiled tier runs it on two heaps (:mod:`heaps`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import once
from random_programs import random_program

from specahd.core.program import Outcome
from specahd.programs.guard import guard
from specahd.sandbox.calls import Call, Launch, Result, SessionLimits
from specahd.sandbox.session import Sandbox
from specahd.sandbox.shared_arrays import SharedArrays

HERE = str(Path(__file__).parent)
NAME, PLAIN = "answer", "once:interpreted"
DIFFERENT = "differ"
"""The kind of verdict that no program should get."""
SIZES = (1, 2, 3, 4, 6, 8)
_LIMITS = SessionLimits(call_seconds=1.0, total_seconds=10.0, memory_bytes=1 << 30)
_SPENT = "the session's CPU time is spent"


@dataclass(frozen=True)
class Verdict:
    """What a program did in both tiers.

    ``kind`` is ``not compiled``, ``same answers``, ``failures`` (it raises on some call, compiled
    or in both tiers) or ``differ``; ``detail`` says why, and is what verdicts are told apart by.
    """

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Scene:
    """Programs on small inputs, and the sandbox that they run in."""

    compiled: str
    shared: SharedArrays
    calls: Sequence[Call]

    @cached_property
    def sandbox(self) -> Sandbox:
        return Sandbox(self.shared, [PLAIN], [HERE], [self.compiled])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sandbox.close()
        self.shared.close()

    def draw(self, seed: int, index: int) -> str:
        """Return a random program."""
        rng = np.random.default_rng([seed, index])
        return random_program(rng, NAME, once.KINDS)

    def admits(self, source: str) -> bool:
        """Say whether the guard lets a program pass."""
        return guard(source, NAME, list(once.KINDS)) is None

    def judge(self, source: str) -> Verdict:
        """Run a program in both tiers on every call, and compare them call by call."""
        launched, results = self._results(source, self.compiled)
        if results is None:
            return Verdict("not compiled", launched)
        _, others = self._results(source, PLAIN)
        assert others is not None, "Python defines what the guard lets pass."
        pairs = [
            (one, other)
            for one, other in zip(results, others, strict=True)
            # A twin that took too long says nothing against the faster one, nor does a child that
            # had to be made again, with its program, until no time was left.
            if other.outcome is not Outcome.TIMEOUT and one.detail != _SPENT
        ]
        for one, other in pairs:
            if not _act_alike(one, other):
                return Verdict(DIFFERENT, f"compiled {_told(one)}, interpreted {_told(other)}")
        failures = [one for one, _ in pairs if one.outcome is not Outcome.OK]
        if not failures:
            return Verdict("same answers")
        return Verdict("failures", Counter(map(_told, failures)).most_common(1)[0][0])

    def _results(self, source: str, runner: str) -> tuple[str, list[Result] | None]:
        launch = Launch(source, NAME, runner)
        with self.sandbox.session([launch], _LIMITS) as session:
            if session.launched is not Outcome.OK:
                return session.detail, None
            return "", list(session.call_many(self.calls))


def _act_alike(one: Result, other: Result) -> bool:
    """Return whether compiled code answered as Python does, or refused to answer."""
    if one.outcome is not Outcome.OK:
        return True
    return (
        other.outcome is Outcome.OK
        and len(one.output) == len(other.output)
        and all(map(np.array_equal, one.output, other.output))
    )


def _told(result: Result) -> str:
    """Return the outcome, of an exception its type."""
    if result.outcome is Outcome.CRASHED:
        return result.detail.partition(":")[0]
    return "answers" if result.outcome is Outcome.OK else str(result.outcome)


def scene(seed: int = 0, warm: int = 0) -> Scene:
    """Return programs that take and return anything.

    Parameters
    ----------
    warm
        How many programs are compiled beforehand, once, which makes all others quicker.
    """
    rng = np.random.default_rng(seed)
    contents = [_arrays(rng, size, odd) for size in SIZES for odd in (False, True)]
    shared = SharedArrays.allocate(
        [{name: (a.dtype.type, a.shape) for name, a in arrays.items()} for arrays in contents]
    )
    for index, arrays in enumerate(contents):
        for name, array in shared.writable(index).items():
            array[...] = arrays[name]
    calls = [Call(0, index, ()) for index in range(len(contents))]
    return Scene(f"heaps:{warm}:once:COMPILED", shared, calls)


def _arrays(rng: np.random.Generator, size: int, odd: bool) -> dict[str, Any]:
    """Return distances and the like, or small numbers with ties, zeros and signs."""
    low, high = (-3, 4) if odd else (1, 60)
    reals = rng.integers(low, high, size).astype(float) if odd else rng.uniform(0, 9, size)
    matrix = rng.integers(low, high, (size, size)) if odd else rng.uniform(0, 99, (size, size))
    return {
        "numbers": rng.integers(0, size, 2) + np.array([0, 0 if odd else 40]),
        "level": rng.integers(0, 3, 1).astype(float) if odd else rng.uniform(0, 1, 1),
        "nodes": np.sort(rng.permutation(size + 3)[:size]) if odd else np.arange(size),
        "amounts": rng.integers(low, high, size),
        "weights": reals,
        "matrix": matrix.astype(float),
    }
