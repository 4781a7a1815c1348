"""Prompts: the text of a request for one program, or for a text.

Everything that the requests of a level share comes first, word for word the
same, so that a provider that caches the beginning of a prompt bills it once.
The search method supplies the operator's instruction. A method that writes a whole prompt of
its own can use the parts: :func:`describe_interface`, :func:`describe_score`,
:func:`describe_rules`, :func:`describe_program`, :func:`idea_and_code`, :func:`answer_format`
and :func:`code_block`.
"""

import textwrap
from collections.abc import Sequence

from specahd.core.contract import Contract, Parent, Request, Treatment
from specahd.core.program import Level
from specahd.core.skill import Skill
from specahd.memory.diff import are_related, changed_parts
from specahd.programs.language import RULES

MAX_IDEA = 600
"""Longest idea of a parent that is shown, in characters; a longer one is cut at a word."""

_SCORES = {
    Level.UPPER: (
        "the mean over the instances of what all repairs together save, in percent of the cost, "
        "minus small penalties for instances without a valid proposal, for "
        "rejected proposals and for rebuilds that end infeasible. Higher is better."
    ),
    Level.LOWER: (
        "the mean over the regions, the parts that are rebuilt, of what rebuilding this one region "
        "saves, in percent of the cost of the whole solution around it; 0 where it fails or saves "
        "nothing. Higher is better."
    ),
}
_PACES = {
    Level.UPPER: (
        "It is called once for every instance and answers with parts to rebuild, not with a "
        "solution: use array operations, no loop over all pairs. A program that raises or "
        "takes too long on any instance is discarded. Later instances have up to thousands of "
        "nodes: where it fails, the solution stays as it is."
    ),
    Level.LOWER: (
        "It is called again and again until its region is complete. A region on which it raises, "
        "takes too long or answers with anything but what is described counts 0."
    ),
}
_UNITS = {Level.UPPER: "instances", Level.LOWER: "regions"}
_EVIDENCE = "What earlier changes have shown, each measured against the program that was changed."
_CONDITIONS = {
    Level.UPPER: (
        ' "Helped where slack +1.2 sd" means: on the instances where the change helped, its '
        "regions have a slack 1.2 standard deviations above that of its regions on the others."
    ),
    Level.LOWER: (
        ' "Helped where slack +1.2 sd" means: the regions where the change helped have a slack '
        "1.2 standard deviations above that of the others."
    ),
}
"""Explanations of the conditions of skill records."""
_TOO_MUCH = "too much was changed to be listed"
_REFINING = (Treatment.RETUNE, Treatment.SIMPLIFY)
_WEAK = (
    "Program 1 scores too little for its details to matter. Take what is sound in its idea, and "
    "write a program that decides in a better way."
)
"""Other instruction for weak programs, for which new numbers or less code do not help."""
_ALONE = (
    "This is request {} of the round. Others like it are answered at the same time by somebody "
    "else, so take an approach that few would take first."
)
_TEXT_ANSWER = "Answer with plain text only: no program, no code."


def render(request: Request, views: Sequence[str] = ()) -> str:
    """Render a request as the message to a language model.

    The same request always gives the same text. Programs are numbered in the
    order of the request, which is best first; one that was drawn twice is shown
    once. Measured times are left out, so that the text is the same on every machine.

    Parameters
    ----------
    views
        Text shown of each parent instead of its idea and code; empty for idea and code.
    """
    contract = request.contract
    operator = request.operator
    measured = request.context.measured
    # Two programs of a run may be equal in source and idea, but not in their identifier.
    views = views or [
        idea_and_code(one.program.idea, one.program.source) for one in request.parents
    ]
    pairs = zip(request.parents, views, strict=True)
    distinct = list({parent.program.id: (parent, view) for parent, view in pairs}.values())
    parts = [
        describe_task(request),
        describe_round(request),
        *(
            describe_program(number, parent, view, measured.get(parent.program.id, ""))
            for number, (parent, view) in enumerate(distinct, start=1)
        ),
        _skill_records(request),
        request.hints,
        _WEAK
        if _is_weak(request)
        else operator.instruction.replace("{parents}", _names(len(distinct))),
        "" if request.parents or operator.wants_text else _ALONE.format(request.index + 1),
        _TEXT_ANSWER if operator.wants_text else answer_format(contract, operator.analysis),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def describe_task(request: Request) -> str:
    """Describe the shared part of a level's requests: task, interface, score and rules."""
    contract = request.contract
    parts = [contract.task, describe_interface(contract), describe_score(contract)]
    if not request.operator.wants_text:
        parts.append(describe_rules(contract))
    return "\n\n".join(part.strip("\n") for part in parts)


def shared_length(request: Request) -> int:
    """Return the length of the prompt's start that its level shares; 0 if the method wrote it."""
    shared = describe_task(request)
    return len(shared) if request.prompt.startswith(shared) else 0


def describe_interface(contract: Contract) -> str:
    """Describe the contract: the function's signature and docstring."""
    return (
        "This is its interface. The body is only an example; name, arguments and kind of answer "
        "are fixed. IntArray and FloatArray are NumPy arrays of int64 and float64.\n\n"
        f"{code_block(contract.document)}"
    )


def describe_score(contract: Contract) -> str:
    """Describe the meaning of a program's score."""
    return f"The score of a program is {_SCORES[contract.level]}"


def describe_rules(contract: Contract) -> str:
    """Describe the allowed language of programs and their time limits."""
    own = contract.rules or (_PACES[contract.level],)
    return "\n".join(("Rules:", *(f"- {rule}" for rule in (*RULES, *own))))


def describe_round(request: Request) -> str:
    """Describe the round by the facts of its context; empty if there are none."""
    context = request.context
    marks = (("the example above", context.example), ("the best program so far", context.best))
    scores = [f"{whose} scores {_percent(mark)}" for whose, mark in marks if mark is not None]
    lines = [*context.facts, *([f"{', '.join(scores).capitalize()}."] if scores else [])]
    if context.best_idea:
        lines.append(f"The idea of the best: {_shorten(context.best_idea)}")
    return "\n".join(("Facts of this round:", *(f"- {line}" for line in lines))) if lines else ""


def describe_program(number: int, parent: Parent, view: str, measured: str = "") -> str:
    """Describe a program: its number, score, other measurements, and one view of it."""
    measurements = f": {measured}" if measured else ""
    return f"Program {number}, score {_percent(parent.score)}{measurements}. {view}"


def idea_and_code(idea: str, source: str) -> str:
    """Return a program's idea and code."""
    return f"Its idea: {_shorten(idea)}\n\n{code_block(source)}"


def _shorten(idea: str) -> str:
    return textwrap.shorten(idea, MAX_IDEA, placeholder=" ...")


def _is_weak(request: Request) -> bool:
    """Return whether the program to refine scores less than the example, or half of the best."""
    if request.operator.treatment not in _REFINING or not request.parents:
        return False
    context = request.context
    least = context.example if context.example is not None else (context.best or 0.0) / 2
    return request.parents[0].score < least


def _skill_records(request: Request) -> str:
    """Describe the skill records that concern the shown programs or variants of them."""
    relations = [(skill, _relation(skill, request)) for skill in request.skills]
    lines = [
        f"- {relation} {_measured(skill, _UNITS[request.level])}"
        for skill, relation in relations
        if relation
    ]
    if not lines:
        return ""
    stated = any(relation and (skill.helped or skill.failed) for skill, relation in relations)
    return "\n".join((_EVIDENCE + (_CONDITIONS[request.level] if stated else ""), *lines))


def _relation(skill: Skill, request: Request) -> str:
    """Describe how a change relates to the shown programs; empty if it does not."""
    change = are_related(skill.program, skill.parent)
    for number, parent in enumerate(request.parents, start=1):
        # The idea of a shown program is in the prompt already, beside its code.
        if skill.program.id == parent.program.id:
            account = changed_parts(skill.parent.source, skill.program.source) if change else ""
            return f"How program {number} came about: {account or _TOO_MUCH}."
    first = request.parents[0].program
    if not change:
        return ""
    if skill.parent.id == first.id:
        return f"Tried on program 1: {skill.change}"
    related = are_related(first, skill.program) or are_related(first, skill.parent)
    return f"On a program like it: {skill.change}" if related else ""


def _measured(skill: Skill, units: str) -> str:
    sentences = [
        f"Mean gain {_percent(skill.gain, '+')}, better on {skill.better} and worse on "
        f"{skill.worse} of {skill.tasks} {units}."
    ]
    for verb, conditions in (("Helped", skill.helped), ("Failed", skill.failed)):
        if conditions:
            sentences.append(f"{verb} where {', '.join(map(str, conditions))}.")
    if skill.failures:
        failures = (f"{n} ({name.replace('_', ' ')})" for name, n in skill.failures.items())
        sentences.append(f"No answer on {', '.join(failures)}.")
    return " ".join(sentences)


def answer_format(contract: Contract, analysis: str = "") -> str:
    """Describe the format of a reply: an ``analysis`` if there is one, idea and code."""
    before = f"{analysis}, then " if analysis else ""
    form = f"def {contract.name}({', '.join(contract.arguments)}):\n    ..."
    return (
        f"Answer in exactly this form: {before}one sentence in braces that states the idea, then "
        "the function. Use no other braces outside the code, and write nothing else; docstring, "
        "annotations and comments are not needed.\n\n"
        f"{{The idea in one sentence.}}\n\n{code_block(form)}"
    )


def code_block(code: str) -> str:
    """Return code as a Markdown block."""
    return f"```python\n{code.strip()}\n```"


def _names(count: int) -> str:
    numbers = [str(number) for number in range(1, count + 1)]
    if count < 2:
        return f"program {''.join(numbers)}"
    return f"programs {', '.join(numbers[:-1])} and {numbers[-1]}"


def _percent(score: float, sign: str = "-") -> str:
    # Adding 0 makes a negative zero positive.
    return f"{round(100 * score, 3) + 0.0:{sign}.3f} %"
