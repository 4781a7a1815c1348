"""The generation memory of one level: novelty of programs, and skill records."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError, RunFailed
from specahd.core.options import Option, checked
from specahd.core.program import Program
from specahd.core.skill import Skill
from specahd.memory.novelty import Verdict, normalised_source

DIGITS = 6
"""Number of decimals of a similarity, in comparisons and in records."""
FUSED = "fused"

Similarities = Mapping[str, NDArray[np.float64]]
"""Similarities by encoder and as ``fused``: one value in [-1, 1] for each program."""


class ProgramEncoder(Protocol):
    """Store of programs as vectors of one space, in the order in which they were added."""

    def preflight(self) -> None:
        """Check that programs can be encoded.

        Raises
        ------
        ServiceError
            The encoder cannot encode them.
        """
        ...

    def add(self, programs: Sequence[Program]) -> None:
        """Add programs."""
        ...

    def cosines(self, position: int) -> NDArray[np.float64]:
        """Return the cosines of one program with all that were added, in order.

        Raises
        ------
        ServiceError, TransportError
            The encoder returns no vectors; only an encoder with a server raises this.
        """
        ...


class SimilarityIndex:
    """Index of all programs of a level as vectors, encoded when they are first compared.

    Parameters
    ----------
    encoders
        The encoders by name; the mean of their cosines is the fused similarity.
    """

    def __init__(self, encoders: Mapping[str, ProgramEncoder]) -> None:
        self._encoders = encoders
        self._positions: dict[str, int] = {}
        self._pending: list[Program] = []

    def preflight(self) -> None:
        """Check that programs can be encoded."""
        for encoder in self._encoders.values():
            encoder.preflight()

    def add(self, program: Program) -> None:
        """Add a program."""
        self._positions[program.id] = len(self._positions)
        self._pending.append(program)

    def similarities(self, program: str, others: Sequence[str]) -> Similarities:
        """Return the similarities of one program to others; all must have been added."""
        places = [self._positions[other] for other in others]
        if not places or not self._encoders:
            return {FUSED: np.zeros(len(places))}
        if self._pending:
            for encoder in self._encoders.values():
                encoder.add(self._pending)
            self._pending = []
        found = {
            name: encoder.cosines(self._positions[program])[places].round(DIGITS)
            for name, encoder in self._encoders.items()
        }
        mean = np.asarray(sum(found.values()) / len(found)).round(DIGITS)
        return {**found, FUSED: mean}


class Memory:
    """Store of the programs of one level, and of their skill records.

    docs/reference/memory.md describes how programs are compared.

    It detects duplicates before they are evaluated, and finds the records
    of the most similar programs. It never affects a score or the router.

    Parameters
    ----------
    encoders
        Encoders that programs are compared by, by name, the most informative one first.

    Raises
    ------
    ConfigError
        A value is out of range.
    """

    @checked("memory.")
    def __init__(
        self,
        encoders: Mapping[str, ProgramEncoder] | None = None,
        *,
        fuse: Annotated[
            int, Option("how many of the encoders are compared, from the first", 0, part=True)
        ] = 0,
        threshold: Annotated[
            float, Option("least similarity of a duplicate, above 0 and at most 1", 0, 1)
        ] = 1.0,
        filter: Annotated[
            bool, Option("whether duplicates are turned away before they are evaluated", part=True)
        ] = False,
        skills: Annotated[
            int, Option("most skill records in a mutation request", 0, part=True)
        ] = 0,
    ) -> None:
        encoders = encoders or {}
        if not min(1, len(encoders)) <= fuse <= len(encoders):
            raise ConfigError(
                f"Expected memory.fuse to be how many of {', '.join(encoders) or 'no encoders'} "
                f"are used, got {fuse!r}."
            )
        if not threshold:
            raise ConfigError(f"Expected memory.threshold above 0 and at most 1, got {threshold}.")
        self.options: Mapping[str, Any] = {
            "encoders": [*islice(encoders, fuse)],
            "threshold": threshold,
            "filter": filter,
            "skills": skills,
        }
        """Options of the memory: the names of the used encoders, and the other options."""
        self._space = SimilarityIndex(dict(islice(encoders.items(), fuse)))
        self._threshold = threshold
        self._filter = filter
        self._insertions = skills
        self._programs: list[str] = []
        self._trees: dict[str, str] = {}
        self._skills: dict[str, Skill] = {}

    def preflight(self) -> None:
        """Check, before a run starts, that programs can be compared.

        Raises
        ------
        ServiceError
            An encoder cannot be used.
        """
        if self._filter or self._insertions:
            self._space.preflight()

    def judge(self, program: Program, known: Verdict | None = None) -> Verdict:
        """Compare a program with all earlier ones, and store it.

        A program with an identical normalised syntax tree is always a duplicate, even
        if its idea differs. A rejected program is stored, too.

        Parameters
        ----------
        known
            The recorded verdict if a run is resumed; it is returned as it is, because
            the vectors of models may differ slightly. None: compare.
        """
        earlier = tuple(self._programs)
        self._programs.append(program.id)
        self._space.add(program)
        if not self._filter:
            return Verdict()
        same = self._trees.setdefault(normalised_source(program.source), program.id)
        if known is not None:
            return known
        if not earlier:
            return Verdict()
        by_encoder = self._space.similarities(program.id, earlier)
        # argmax returns the oldest of equally near programs.
        position = int(np.argmax(by_encoder[FUSED]))
        nearest = earlier[position]
        similarity = {name: float(values[position]) for name, values in by_encoder.items()}
        near = nearest if similarity[FUSED] >= self._threshold else None
        return Verdict(same if same != program.id else near, nearest, similarity)

    def learn(self, skill: Skill) -> None:
        """Store a record; it replaces the program's older record."""
        # Deleted first, so that the newest record is the last one.
        self._skills.pop(skill.program.id, None)
        self._skills[skill.program.id] = skill

    @property
    def learns(self) -> bool:
        """Whether skill records are used."""
        return self._insertions > 0

    def version(self, program: Program) -> int:
        """Return the version that the next record of a program will have."""
        known = self._skills.get(program.id)
        return known.version + 1 if known else 1

    def retrieve(self, program: Program) -> tuple[Skill, ...]:
        """Return the records of the programs most similar to one, nearest first.

        The program's own record comes first, because it states where the program
        fails. Among equally similar programs the newest record comes first.
        """
        if not self._insertions or not self._skills:
            return ()
        newest = list(reversed(self._skills.values()))
        near = self._space.similarities(program.id, [skill.program.id for skill in newest])[FUSED]
        of_another = np.array([skill.program.id != program.id for skill in newest])
        order = np.lexsort((-near, of_another))[: self._insertions]
        return tuple(newest[position] for position in order)

    def recall(self, identifiers: Sequence[str]) -> tuple[Skill, ...]:
        """Return the records that a recorded request contained; used when a run is resumed.

        Raises
        ------
        RunFailed
            A record of the request was not made in this run.
        """
        by_id = {skill.id: skill for skill in self._skills.values()}
        if not by_id.keys() >= set(identifiers):
            raise RunFailed("wal.jsonl names a skill record that is not reproduced.")
        return tuple(by_id[identifier] for identifier in identifiers)
