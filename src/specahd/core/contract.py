"""The form of a generated program, and the content of a request for a program or a text.

A contract has a *seed program*, a real Python function whose body is the first candidate. Its
name, arguments and docstring are the interface, unless a table defines the interface
(:mod:`specahd.core.interface`). The contract also has a *vocabulary*: a typed grammar over the
arguments from which the offline proposer composes bodies (:mod:`specahd.llm.offline`).
"""

import ast
import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from specahd.core.interface import Body, Interface, source_as
from specahd.core.program import Level, Program, Tier, canonical_source
from specahd.core.skill import Skill
from specahd.core.syntax import parse
from specahd.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Contract:
    """The fixed interface of one kind of program (the paper, appendix G).

    Parameters
    ----------
    id
        Identifier of the contract within its problem (``append``, ``customer_groups``).
    level
        The level whose search evolves the programs.
    name, arguments
        The function's name and its arguments in order.
    document
        Source of the seed function as written, docstring included: prompt text.
    seed
        The seed program.
    task
        One paragraph that describes the problem to a language model.
    runner
        ``package.module:name`` of what the sandbox child calls with ``(program, arrays, inputs)``
        to run the program once. The module must import quickly (NumPy and the standard library
        only), unless its runner compiles programs (:mod:`specahd.engine.runner`).
    vocabulary
        Grammar from which the offline proposer composes bodies; None if only language models
        can write programs of the contract.
    dearer
        The document for searches that accept rebuilt parts which make the solution dearer; empty
        if ``document`` fits these searches too.
    single
        The document for searches in which an answer is one action, never several in order; empty
        if ``document`` fits these searches too.
    tier
        The tier in which all programs run. One that must run compiled but cannot be compiled has
        the outcome ``not_compiled``.
    rules
        Prompt text on the rules for these programs beyond those of all contracts, and on how often
        they are called. It replaces the text of the level; empty for the level's text.
    others
        Further hand-written programs that a search begins with, the strongest last.
    varied
        Further programs that only a search with ``search.seeds=varied`` begins with.
    planners
        Identifiers of those of them that answer with several actions.
    """

    id: str
    level: Level
    name: str
    arguments: tuple[str, ...]
    document: str
    seed: Program
    task: str
    runner: str
    vocabulary: Vocabulary | None = None
    dearer: str = ""
    single: str = ""
    tier: Tier = Tier.INTERPRETED
    rules: tuple[str, ...] = ()
    others: tuple[Program, ...] = ()
    varied: tuple[Program, ...] = ()
    planners: tuple[str, ...] = ()

    @property
    def seeds(self) -> tuple[Program, ...]:
        """The programs that a search begins with: the seed program and the others."""
        return (self.seed, *self.others)

    def accepting_worse(self) -> "Contract":
        """Return the contract for searches in which a rebuilt part may make the solution dearer."""
        return replace(self, document=self.dearer or self.document)

    def of_single_actions(self) -> "Contract":
        """Return the contract for searches in which an answer is one action."""
        varied = tuple(one for one in self.varied if one.id not in self.planners)
        document = self.single or self.document
        vocabulary = self.vocabulary and self.vocabulary.of_single_actions()
        return replace(self, document=document, vocabulary=vocabulary, varied=varied, planners=())

    def variant(
        self, seed: Callable[..., Any], interface: Interface, *, id: str, task: str
    ) -> "Contract":
        """Return a contract with the same arguments, but another identifier, task and document."""
        document, single = _documents(interface, seed)
        program = replace(self.seed, contract=id)
        varied = tuple(replace(one, contract=id) for one in self.varied)
        texts: dict[str, Any] = {"task": task, "document": document, "single": single}
        return replace(self, id=id, seed=program, varied=varied, **texts)

    @classmethod
    def of(
        cls,
        seed: Callable[..., Any],
        *,
        id: str,
        level: Level,
        idea: str,
        task: str,
        interface: Interface | None = None,
        runner: Callable[..., Any] | str,
        vocabulary: Vocabulary | None = None,
        tier: Tier = Tier.INTERPRETED,
        rules: tuple[str, ...] = (),
        others: Sequence[tuple[Callable[..., Any], str]] = (),
        varied: Sequence[tuple[Callable[..., Any] | Body, str]] = (),
    ) -> "Contract":
        """Return the contract of a seed function.

        Parameters
        ----------
        interface
            The programs' arguments and answer; None if the seed function defines them itself.
        runner
            The function itself, or its ``package.module:name``.
        others, varied
            Further functions or bodies, each with its idea. A function may have some of the
            contract's arguments only; its program gets all of them. One that returns another type
            than the seed function answers with several actions.
        """
        document, dearer, single = textwrap.dedent(inspect.getsource(seed)), "", ""
        if interface is not None:
            document, single = _documents(interface, seed)
            if interface.dearer:
                dearer = interface.changed(description=interface.dearer).document(seed)
        [function] = parse(document).body
        assert isinstance(function, ast.FunctionDef)
        program = Program(
            id=f"{level}-seed",
            level=level,
            source=canonical_source(function),
            idea=idea,
            operator="seed",
            tier=tier,
            contract=id,
        )

        arguments = tuple(argument.arg for argument in function.args.args)

        def like(other: Callable[..., Any] | Body, its: str) -> Program:
            name = other.name if isinstance(other, Body) else other.__name__
            source = source_as(function.name, arguments, other)
            return replace(program, id=f"{level}-{name.replace('_', '-')}", source=source, idea=its)

        by_hand = [(written, like(written, its)) for written, its in varied]
        return cls(
            id=id,
            level=level,
            name=function.name,
            arguments=arguments,
            document=document,
            seed=program,
            task=task,
            runner=runner
            if isinstance(runner, str)
            else f"{runner.__module__}:{runner.__qualname__}",
            vocabulary=vocabulary,
            dearer=dearer,
            single=single,
            tier=tier,
            rules=rules,
            others=tuple(like(*other) for other in others),
            varied=tuple(program for _, program in by_hand),
            planners=tuple(
                program.id
                for written, program in by_hand
                if not isinstance(written, Body) and _answer(written) != _answer(seed)
            ),
        )


def _answer(function: Callable[..., Any]) -> Any:
    return inspect.get_annotations(function)["return"]


def _documents(interface: Interface, seed: Callable[..., Any]) -> tuple[str, str]:
    """Return the document of an interface, and that of single actions if it differs."""
    single = interface.changed(plans="").document(seed) if interface.plans else ""
    return interface.document(seed), single


class Treatment(StrEnum):
    """Kinds of change that an operator makes to the programs that it shows.

    The offline proposer uses this value; language models read the operator's instruction.
    """

    FRESH = "fresh"
    """A new program whose form differs from the programs shown, if there are any."""
    COMBINE = "combine"
    """The first program with parts of the second."""
    RESTRUCTURE = "restructure"
    """The first program in a modified form."""
    RETUNE = "retune"
    """The first program with other numbers."""
    SIMPLIFY = "simplify"
    """The first program with fewer parts."""
    DESCRIBE = "describe"
    """A text about the programs shown, no program."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A variation operator of a search method, which requests one kind of program or text.

    Parameters
    ----------
    name
        Name of the operator in the journal and in its programs.
    instruction
        The task for a language model, in whole sentences. ``{parents}`` stands for
        the programs shown: "program 1", "programs 1 and 2".
    parents
        Number of programs that it shows, at least 0.
    treatment
        The change that it makes to them; :attr:`Treatment.DESCRIBE` requests a text.
    skills
        Whether it varies one program, the first that it shows. If so, the request contains the
        skill records that are nearest to that program.
    analysis
        Description of a part of the reply before its idea, as it stands in the answer format ("a
        comparison in square brackets"), without braces; empty for no part. It is not stored.
    """

    name: str
    instruction: str
    parents: int = 0
    treatment: Treatment = Treatment.FRESH
    skills: bool = False
    analysis: str = ""

    @property
    def wants_text(self) -> bool:
        """Whether the reply is a text, not a program; a request for a text takes no ticket."""
        return self.treatment is Treatment.DESCRIBE


@dataclass(frozen=True, slots=True)
class Parent:
    """A program with its score; larger is better.

    Parameters
    ----------
    score
        Its score; the mean of the responses at both levels.
    responses
        Its score on every task (lower level) or instance (upper level), in the same order
        for all programs of a round.
    """

    program: Program
    score: float
    responses: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The facts of a round that its prompts contain; seed and configuration determine them.

    Parameters
    ----------
    facts
        Sentences about tasks, their solutions, limits and which programs are kept.
    example, best
        The scores of the seed program and of the best program so far; None if unknown.
    measured
        A sentence about each program shown beside its score, by identifier.
    best_idea
        The idea of the best program so far, if it is not shown.
    """

    facts: Sequence[str] = ()
    example: float | None = None
    best: float | None = None
    measured: Mapping[str, str] = field(default_factory=dict)
    best_idea: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """All information that a proposer receives to produce one program, or one text.

    Parameters
    ----------
    seed, level, round, index
        Identify the sample; all randomness of the reply derives from them.
    parents
        The programs that the operator shows, in the method's order.
    skills
        Measured effects of earlier changes of similar programs, nearest first.
    hints
        Text that the search method adds, for example a reflection on earlier programs.
    prompt
        The whole request as text for a language model.
    context
        The facts of the round, for the prompt.
    """

    contract: Contract
    seed: int
    level: Level
    round: int
    index: int
    operator: Operator
    parents: tuple[Parent, ...] = ()
    skills: tuple[Skill, ...] = ()
    hints: str = ""
    prompt: str = ""
    context: Context = field(default_factory=Context)

    @property
    def hash(self) -> str:
        """SHA-256 of all data that a reply depends on; the prompt holds instruction and hints."""
        parts = [
            self.contract.document,
            self.seed,
            self.id,
            self.operator.name,
            [[p.program.id, p.program.source, p.program.idea, p.score] for p in self.parents],
            [[s.record, s.program.source, s.parent.source] for s in self.skills],
            self.prompt,
        ]
        return hashlib.sha256(json.dumps(parts, allow_nan=False).encode()).hexdigest()

    @property
    def id(self) -> str:
        """The identifier of the sample, which the requested program will have."""
        return f"{self.level}-{self.round}-{self.index:04d}"
