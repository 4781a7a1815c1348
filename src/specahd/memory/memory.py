"""The generation memory of one level: novelty of programs, and skill records."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from specahd.core.errors import ConfigError, RunFailed
from specahd.core.program import Program
from specahd.core.skill import Skill
from specahd.memory.novelty import Verdict, normalised_source
from specahd.memory.similarity import FUSED, ProgramEncoder, SimilarityIndex


class Memory:
    """Remembers the programs of one level, and the skill records that they left.

    docs/reference/memory.md says how programs are compared.

    It recognises repetitions before they are evaluated, and finds the records
    that are nearest to a program. It never enters into a score or the router.

    Parameters
    ----------
    encoders
        What programs are compared by, by name, the most telling one first.
    fuse
        How many of them are used, from the first.
    threshold
        Least fused similarity that makes a duplicate, above 0 and at most 1.
    filter
        Whether duplicates are turned away.
    skills
        How many records a request has at most.

    Raises
    ------
    ConfigError
        A value is out of range.
    """

    def __init__(
        self,
        encoders: Mapping[str, ProgramEncoder] | None = None,
        *,
        fuse: int = 0,
        threshold: float = 1.0,
        filter: bool = False,
        skills: int = 0,
    ) -> None:
        encoders = encoders or {}
        if not _integer(fuse) or not min(1, len(encoders)) <= fuse <= len(encoders):
            raise ConfigError(
                f"Expected memory.fuse to be how many of {', '.join(encoders) or 'no encoders'} "
                f"are used, got {fuse!r}."
            )
        if not _number(threshold) or not 0 < threshold <= 1:
            raise ConfigError(
                f"Expected memory.threshold above 0 and at most 1, got {threshold!r}."
            )
        if not isinstance(filter, bool):
            raise ConfigError(f"Expected memory.filter to be true or false, got {filter!r}.")
        if not _integer(skills) or skills < 0:
            raise ConfigError(f"Expected memory.skills of at least 0, got {skills!r}.")
        self.options: Mapping[str, Any] = {
            "encoders": [*islice(encoders, fuse)],
            "threshold": threshold,
            "filter": filter,
            "skills": skills,
        }
        """Its options: the names of the used encoders, and the rest."""
        self._space = SimilarityIndex(dict(islice(encoders.items(), fuse)))
        self._threshold = threshold
        self._filter = filter
        self._insertions = skills
        self._programs: list[str] = []
        self._trees: dict[str, str] = {}
        self._skills: dict[str, Skill] = {}

    def preflight(self) -> None:
        """Make sure, before a run starts, that programs can be compared.

        Raises
        ------
        ServiceError
            What encodes them cannot be used.
        """
        if self._filter or self._insertions:
            self._space.preflight()

    def judge(self, program: Program, known: Verdict | None = None) -> Verdict:
        """Compare a program with all earlier ones, and store it.

        An identical normalised syntax tree is always a duplicate, whatever the
        idea. A program that was turned away is remembered, too.

        Parameters
        ----------
        known
            What was found before, in a run that is repeated: models may not
            find quite the same again.
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
        # The oldest among equally near programs.
        position = int(np.argmax(by_encoder[FUSED]))
        nearest = earlier[position]
        similarity = {name: float(values[position]) for name, values in by_encoder.items()}
        near = nearest if similarity[FUSED] >= self._threshold else None
        return Verdict(same if same != program.id else near, nearest, similarity)

    def learn(self, skill: Skill) -> None:
        """Store a record, in place of its older version."""
        # Deleted first, so that the newest stands last.
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

        A program's own record, which tells where it fails, comes first. Of
        equally near ones the newest.
        """
        if not self._insertions or not self._skills:
            return ()
        newest = list(reversed(self._skills.values()))
        near = self._space.similarities(program.id, [skill.program.id for skill in newest])[FUSED]
        of_another = np.array([skill.program.id != program.id for skill in newest])
        order = np.lexsort((-near, of_another))[: self._insertions]
        return tuple(newest[position] for position in order)

    def recall(self, identifiers: Sequence[str]) -> tuple[Skill, ...]:
        """Return the records that a request bore, in a run that is repeated.

        Raises
        ------
        RunFailed
            One of them was not made this time.
        """
        by_id = {skill.id: skill for skill in self._skills.values()}
        if not by_id.keys() >= set(identifiers):
            raise RunFailed("wal.jsonl names a skill record that does not come again.")
        return tuple(by_id[identifier] for identifier in identifiers)


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
