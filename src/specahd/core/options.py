"""Options, each stated once, on the class or function that takes it.

A field of a dataclass is made by :func:`option`; an argument is annotated with an
:class:`Option`. Both state the range, the line of ``--help`` and what the option changes. The
checks, ``--help``, the rules of ``resume=`` and the names of runs are read from there.
"""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from specahd.core.errors import ConfigError
from specahd.core.ranges import check_choice, check_integer, check_number

_OPTION = "option"
_P = ParamSpec("_P")
_T = TypeVar("_T")


class Effect(StrEnum):
    """What an option changes."""

    RESULTS = "results"
    """Programs or figures: runs that differ in it are of different kinds."""
    REPLIES = "replies"
    """Which replies come next: runs differ in kind, but a resumed run may have another value."""
    SEED = "seed"
    """The drawn numbers: runs of one kind differ in it."""
    BOUND = "bound"
    """Where a run ends early; a resumed run may have a larger one."""
    SPEED = "speed"
    """Time alone; a resumed run may have another value."""
    ACCESS = "access"
    """How a service, a place or a name is reached; a resumed run may have another value."""


@dataclass(frozen=True, slots=True)
class Option:
    """The statement of an option.

    Parameters
    ----------
    words
        Its line of ``--help``.
    low, high
        The accepted range; None for no bound.
    choices
        The accepted values, of a list each of its values; empty for any.
    effect
        What it changes.
    newer
        Whether trainings were recorded before it existed, as if they had its default.
    part
        Whether it defines a part of its group that an ablation may take away.
    """

    words: str
    low: float | None = None
    high: float | None = None
    choices: Collection[str] = ()
    effect: Effect = Effect.RESULTS
    newer: bool = False
    part: bool = False

    def check(self, name: str, value: Any, kind: Any) -> None:
        """Refuse a value out of range; None is accepted where the type allows it.

        Parameters
        ----------
        name
            The option's full name, for the message.
        kind
            The annotated type of the value.

        Raises
        ------
        ConfigError
            The message has the accepted range or choices and the value.
        """
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        if value is None and NoneType in kinds:
            return
        if self.choices and str in kinds:
            check_choice(name, value, self.choices)
        elif self.choices:
            if not value or not set(value) <= set(self.choices):
                got = ", ".join(map(str, value)) or "none"
                raise ConfigError(f"Expected {name} among {', '.join(self.choices)}, got {got}.")
        elif self.low is not None and not (str in kinds and isinstance(value, str)):
            # A text in place of a number is checked by its reader, who knows its form.
            check: Any = check_number if float in kinds else check_integer
            check(name, value, self.low, self.high)
        elif bool in kinds and not isinstance(value, bool):
            accepted = "true, false or null" if NoneType in kinds else "true or false"
            raise ConfigError(f"Expected {name} to be {accepted}, got {value!r}.")
        elif str in kinds and not isinstance(value, tuple(kinds)):
            raise ConfigError(f"Expected {name} to be a text, got {value!r}.")


def option(
    default: Any = MISSING,
    words: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: Collection[str] = (),
    effect: Effect = Effect.RESULTS,
    *,
    newer: bool = False,
    default_factory: Any = MISSING,
) -> Any:
    """Return a dataclass field for an option; the arguments are those of :class:`Option`."""
    stated = Option(words, low, high, choices, effect, newer)
    return field(default=default, default_factory=default_factory, metadata={_OPTION: stated})


def check_options(options: Any, group: str = "") -> None:
    """Refuse the first field of a dataclass that is out of range.

    Raises
    ------
    ConfigError
        The message has the accepted range or choices and the value.
    """
    kinds = get_type_hints(type(options))
    for each in fields(options):
        stated = each.metadata.get(_OPTION)
        if stated is not None:
            stated.check(f"{group}{each.name}", getattr(options, each.name), kinds[each.name])


def checked(group: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return a decorator that refuses annotated arguments out of range, before the call.

    Parameters
    ----------
    group
        What precedes the names of arguments in messages, such as ``method.policy.``.
    """

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        taken = signature(function)

        @functools.cache
        def checks() -> list[tuple[str, Option, Any]]:
            # At the first call, when all names in the annotations are defined.
            kinds = get_type_hints(function)
            return [
                (name, stated, kinds[name])
                for name, metadata in _annotations(function).items()
                for stated in metadata
                if isinstance(stated, Option)
            ]

        @functools.wraps(function)
        def checking(*arguments: _P.args, **named: _P.kwargs) -> _T:
            bound = taken.bind(*arguments, **named)
            bound.apply_defaults()
            for name, stated, kind in checks():
                stated.check(f"{group}{name}", bound.arguments[name], kind)
            return function(*arguments, **named)

        return checking

    return decorate


def stated_options(target: Any) -> Mapping[str, Option]:
    """Return the options that a class or function takes, by name.

    Arguments ``**NAME`` that are annotated with other classes or functions stand for their options.
    """
    if is_dataclass(target):
        return {
            each.name: each.metadata[_OPTION] for each in fields(target) if _OPTION in each.metadata
        }
    found: dict[str, Option] = {}
    for name, metadata in _annotations(target).items():
        for stated in metadata:
            if isinstance(stated, Option):
                found[name] = stated
            elif callable(stated):
                found |= stated_options(stated)
    return found


def accepted_arguments(target: Any) -> tuple[Mapping[str, Parameter], bool]:
    """Return the named arguments of a class or function, and whether it accepts any other.

    Arguments ``**NAME`` that are annotated with other classes or functions stand for theirs.

    Raises
    ------
    TypeError, ValueError
        It has no signature, as some functions written in C.
    """
    annotations = _annotations(target)
    found: dict[str, Parameter] = {}
    is_open = False
    for each in signature(target).parameters.values():
        if each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            found[each.name] = each
        elif each.kind is Parameter.VAR_KEYWORD:
            others = [other for other in annotations.get(each.name, ()) if callable(other)]
            is_open = not others
            # Those of a base class come first.
            for other in others:
                found = {**accepted_arguments(other)[0], **found}
    return found, is_open


def _annotations(target: Any) -> Mapping[str, Sequence[Any]]:
    """Return what arguments are annotated with, by name, besides their types."""
    function = getattr(target, "__init__") if isinstance(target, type) else target  # noqa: B009
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        # A user's own annotations need not be types.
        return {}
    return {
        name: hint.__metadata__ for name, hint in hints.items() if get_origin(hint) is Annotated
    }


def effects(options: type, group: str = "") -> Mapping[str, Effect]:
    """Return what the options of a dataclass change, by full name, except :attr:`Effect.RESULTS`.

    The name of a group stands for all of its options.
    """
    stated = {name: each.metadata.get(_OPTION) for name, each in _all_fields(options, group)}
    return {
        name: each.effect
        for name, each in stated.items()
        if each is not None and each.effect is not Effect.RESULTS
    }


def off_by_default(options: type) -> frozenset[str]:
    """Return the full names of a dataclass's options that are None or False unless they are set."""
    return frozenset(
        name
        for name, each in _all_fields(options, "")
        if each.default is None or each.default is False
    )


def _all_fields(options: type, group: str) -> Iterator[tuple[str, Field[Any]]]:
    """Yield the fields of a dataclass, and of those in it, each with its full name."""
    kinds = get_type_hints(options)
    for each in fields(options):
        yield f"{group}{each.name}", each
        if is_dataclass(kinds[each.name]):
            of_group: Any = kinds[each.name]
            yield from _all_fields(of_group, f"{group}{each.name}.")
