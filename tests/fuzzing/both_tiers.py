"""Run a program in both tiers, in the children of a real sandbox, and compare what it does.

The compiled tier runs it on two heaps (:mod:`heaps`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import once
from hydra.utils import instantiate
from omegaconf import OmegaConf
from random_programs import random_program

from specahd.config import CONF_DIR
from specahd.core.program import Outcome
from specahd.repair.cases import make_case, share_arrays
from specahd.routing.base import Region
from specahd.sandbox.calls import Call, Launch, Result, SessionLimits
from specahd.sandbox.guard import guard
from specahd.sandbox.session import Sandbox
from specahd.sandbox.shared_arrays import SharedArrays

HERE = str(Path(__file__).parent)
FREE = "free"
"""Stands for no problem: programs that take and return anything."""
DIFFERENT = ("differ", "other error")
"""Kinds of verdicts that no program should get."""
SIZES = (1, 2, 3, 4, 6, 8)
_LIMITS = SessionLimits(call_seconds=1.0, total_seconds=10.0, memory_bytes=1 << 30)
_SPENT = "the session's CPU time is spent"
_KINDS = {
    "unvisited_nodes": "ints",
    "demands": "ints",
    "ready_times": "reals",
    "due_times": "reals",
    "service_times": "reals",
    "distance_matrix": "matrix",
    "current_time": "real",
}


@dataclass(frozen=True)
class Verdict:
    """What a program did in both tiers.

    ``kind`` is ``not compiled``, ``same answers``, ``same failures``, ``other error`` (it raises
    in both, but not the same exception) or ``differ``; ``detail`` says why, and is what
    differences are told apart by.
    """

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Scene:
    """A contract's programs on small inputs, and the sandbox that they run in."""

    name: str
    arguments: Mapping[str, str]
    runner: str
    compiled: str
    shared: SharedArrays
    calls: Sequence[Call]
    pool: str | None
    pair: bool

    @cached_property
    def sandbox(self) -> Sandbox:
        return Sandbox(self.shared, [self.runner], [HERE], [self.compiled])

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
        return random_program(rng, self.name, self.arguments, self.pool, self.pair)

    def admits(self, source: str) -> bool:
        """Say whether the guard lets a program pass."""
        return guard(source, self.name, list(self.arguments)) is None

    def judge(self, source: str) -> Verdict:
        """Run a program in both tiers on every call, and compare them call by call."""
        launched, results = self._results(source, self.compiled)
        if results is None:
            return Verdict("not compiled", launched)
        _, others = self._results(source, self.runner)
        assert others is not None, "Python defines what the guard lets pass."
        pairs = [
            (one, other)
            for one, other in zip(results, others, strict=True)
            # A twin that took too long says nothing against the faster one, nor does a child that
            # had to be made again, with its program, until no time was left.
            if other.outcome is not Outcome.TIMEOUT and one.detail != _SPENT
        ]
        for kind, alike in (("differ", _act_alike), ("other error", _fail_alike)):
            for one, other in pairs:
                if not alike(one, other):
                    return Verdict(kind, f"compiled {_told(one)}, interpreted {_told(other)}")
        failures = [other for _, other in pairs if other.outcome is not Outcome.OK]
        if not failures:
            return Verdict("same answers")
        return Verdict("same failures", Counter(map(_told, failures)).most_common(1)[0][0])

    def _results(self, source: str, runner: str) -> tuple[str, list[Result] | None]:
        launch = Launch(source, self.name, runner)
        with self.sandbox.session([launch], _LIMITS) as session:
            if session.launched is not Outcome.OK:
                return session.detail, None
            return "", list(session.call_many(self.calls))


def _act_alike(one: Result, other: Result) -> bool:
    return (
        one.outcome is other.outcome
        and len(one.output) == len(other.output)
        and all(map(np.array_equal, one.output, other.output))
    )


def _fail_alike(one: Result, other: Result) -> bool:
    return _told(one) == _told(other)


def _told(result: Result) -> str:
    """Return the outcome, of an exception its type."""
    if result.outcome is Outcome.CRASHED:
        return result.detail.partition(":")[0]
    return "answers" if result.outcome is Outcome.OK else str(result.outcome)


def scene(problem: str, seed: int = 0, warm: int = 0) -> Scene:
    """Return the lower programs of a problem on small parts of its instances, or free ones.

    Parameters
    ----------
    warm
        How many programs are compiled beforehand, once, which makes all others quicker.
    """
    made = _free_scene(seed) if problem == FREE else _problem_scene(problem, seed)
    return replace(made, compiled=f"heaps:{warm}:{made.compiled}")


def _free_scene(seed: int) -> Scene:
    rng = np.random.default_rng(seed)
    contents = [_free_arrays(rng, size, odd) for size in SIZES for odd in (False, True)]
    shared = SharedArrays.allocate(
        [{name: (a.dtype.type, a.shape) for name, a in arrays.items()} for arrays in contents]
    )
    for index, arrays in enumerate(contents):
        for name, array in shared.writable(index).items():
            array[...] = arrays[name]
    calls = [Call(0, index, ()) for index in range(len(contents))]
    runners = "once:interpreted", "once:COMPILED"
    return Scene("answer", once.KINDS, *runners, shared, calls, None, False)


def _free_arrays(rng: np.random.Generator, size: int, odd: bool) -> dict[str, Any]:
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


def _problem_scene(name: str, seed: int) -> Scene:
    problem = instantiate(OmegaConf.load(CONF_DIR / "problem" / f"{name}.yaml"))
    contract = problem.operator.contract
    [instance, *_] = sorted(problem.generate("lower_train", seed), key=lambda one: one.size)
    case = make_case(problem, instance)
    # The second copy has ties and zeros among its distances.
    shared = share_arrays(problem, [case, case])
    matrix = shared.writable(1)["distance_matrix"]
    matrix[...] = np.round(matrix / max(matrix.mean(), 1e-9))
    calls = []
    for size in SIZES:
        # A tour is one sequence, of which a part has two anchors; else there are routes.
        tour = isinstance(case.baseline[0], int)
        nodes = case.baseline[: size + 2] if tour else tuple(range(1, size + 1))
        inputs = problem.operator.inputs(case.instance, case.baseline, Region(nodes))
        calls += [Call(0, index, inputs) for index in range(2)]
    kinds = {argument: _KINDS.get(argument, "int") for argument in contract.arguments}
    pair = contract.name == "select_next_delivery"
    runners = contract.runner, contract.compiled
    return Scene(contract.name, kinds, *runners, shared, calls, "unvisited_nodes", pair)
