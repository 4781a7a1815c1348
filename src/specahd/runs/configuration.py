"""The configuration of a run or a sweep; what options change; kinds of runs, and their names."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, structs

from specahd.core.errors import FileError
from specahd.core.options import Effect, effects, off_by_default
from specahd.core.plain import convert, parse_yaml, read_bytes
from specahd.core.services import EncoderOptions, ModelOptions
from specahd.core.settings import POOLS_SEED, RunOptions, Settings
from specahd.runs.files import CONFIG

_LIMIT = 1 << 18
_RETIRED = ("tiers",)
"""Groups of options that earlier versions had; what they chose is no choice any more."""

RENAMED_METHODS = {"specahd_passes": "specahd"}
"""Methods by the names that earlier versions gave them."""

SEARCHPATH = "hydra.searchpath"
"""The option that names folders of the user's own files; a run's ``choices`` keep it."""

_EFFECTS = {
    **effects(RunOptions),
    **effects(ModelOptions, "llm."),
    **effects(EncoderOptions, "memory."),
    SEARCHPATH: Effect.ACCESS,
}


def options_with(*wanted: Effect) -> tuple[str, ...]:
    """Return the options, and groups of options, that have one of some effects."""
    return tuple(name for name, effect in _EFFECTS.items() if effect in wanted)


class _Budget(Struct, frozen=True):
    name: str
    programs: int
    lower_train: int | None = None
    upper_train: int | None = None
    selection: int | None = None
    validation: int | None = None


class _Search(Struct, frozen=True):
    beta: float = Settings().beta
    repertoire_size: int = Settings().repertoire_size


class _Pools(Struct, frozen=True):
    dir: str = ""
    seed: int = POOLS_SEED
    files: str | None = None

    def folder(self, problem: str) -> Path:
        """Return the folder of the pools that a run used."""
        return Path(self.dir) / problem if self.files is None else Path(self.files)


class RunConfiguration(Struct, frozen=True):
    """The configuration that a run saved: the fields that are read again, and all values.

    Parameters
    ----------
    choices
        The choices of groups, of which ``problem``, ``method`` and ``llm`` are always given.
    values
        All values of the file, nested in groups, without those that this version has no use for.
    """

    seed: int
    choices: dict[str, str | None]
    budget: _Budget
    search: _Search = _Search()
    pools: _Pools = _Pools()
    values: dict[str, Any] = {}

    def __post_init__(self) -> None:
        for group in ("problem", "method", "llm"):
            if self.choices.get(group) is None:
                raise ValueError(f"Expected choices.{group}")

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Read the configuration in a run's directory.

        Raises
        ------
        FileError
            The file cannot be read, or is not a run's configuration.
        """
        path = directory / CONFIG
        try:
            values = _with_names_of_today(parse_yaml(read_bytes(path, _LIMIT), dict[str, Any]))
            read: Self = convert(values, cls)
        except ValueError as error:
            raise FileError(f"{path} is not the configuration of a run ({error}).") from None
        kept = {key: value for key, value in values.items() if key not in _RETIRED}
        return structs.replace(read, values=kept)


def _with_names_of_today(values: dict[str, Any]) -> dict[str, Any]:
    """Return a saved configuration with the names that its method has now.

    ``specahd`` was the name of the search with one pass, which ``specahd_one_pass`` is now.
    """
    match values:
        case {"choices": {"method": "specahd"}, "search": {"passes": int(passes)}} if passes > 1:
            return values
        case {"choices": {"method": "specahd"}, "problem": {"repair": "append"}}:
            name = "specahd_one_pass"
        case {"choices": {"method": str(old)}} if old in RENAMED_METHODS:
            name = RENAMED_METHODS[old]
        case _:
            return values
    return {**values, "choices": {**values["choices"], "method": name}}


def swept_overrides(config: Any) -> list[str]:
    """Return the overrides of a sweep: those of an experiment, then of the command line."""
    # Imported here, since most who read runs do not need it.
    from omegaconf import OmegaConf

    # An override may refer to values that exist only in a job.
    words: list[str] = OmegaConf.to_container(config.hydra.overrides.task, resolve=False)  # type: ignore[assignment]  # a list
    params = config.hydra.sweeper.get("params") or {}
    return [*(f"{key}={value}" for key, value in params.items()), *words]


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested groups to options with dotted names."""
    options = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            options.update({f"{key}.{name}": item for name, item in flatten(value).items()})
        else:
            options[str(key)] = value
    return options


def is_covered_by(key: str, options: Iterable[str]) -> bool:
    """Return whether a dotted name is one of the options or lies in one of the groups."""
    return any(key == option or key.startswith(f"{option}.") for option in options)


_IRRELEVANT = options_with(Effect.SEED, Effect.BOUND, Effect.SPEED, Effect.ACCESS)
_OFF_BY_DEFAULT = off_by_default(RunOptions)
_CLASS = "._target_"
_CALLING = ("_partial_", "_recursive_", "_convert_")
"""Hydra's keys for calling a class; the class itself determines the result."""
MAIN_GROUPS = ("problem", "method", "llm", "budget")
"""The groups whose choices stand first in the name of a kind of runs."""
_LENGTH = 100
CONTROL = "control"
"""The group of controls, and the option of a kind that says which control it is."""
NO_CONTROL = "none"
_PROGRAMS = "budget.programs"
_FILES = "pools.files"
_OPERATORS = "method.policy.operators"
_SINGLE = "specahd.design.single.Single"


@dataclass(frozen=True, slots=True, order=True)
class RunKind:
    """The options that a result depends on; runs that share them are averaged over seeds.

    ``options`` are the choices by group and the values by dotted name. The options that make a run
    a control are one option, ``control``, whether the group of that name set them or not.
    An option that is off by default and stays so is left out: a run that is older than the option
    is of the same kind.
    """

    problem: str
    method: str
    llm: str
    budget: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "RunKind":
        """Return the kind of a run that has this configuration."""
        choices: Mapping[str, Any] = config["choices"]
        values = {key: value for key, value in config.items() if key != "choices"}
        # The options of a choice are nested below its name: budget, budget.programs.
        options = {
            key: value
            for key, value in {**choices, **flatten(values)}.items()
            if not is_covered_by(key, _IRRELEVANT) and key.rpartition(".")[2] not in _CALLING
        }
        # One's own instances are told by the folder of their pools, generated ones by a seed.
        told = "pools.seed" if options.get(_FILES) is None else _FILES
        options = {
            key: value
            for key, value in options.items()
            if key == told or not is_covered_by(key, ["pools"])
        }
        control, made_by = _control(options)
        options = {key: value for key, value in options.items() if key not in made_by}
        options[CONTROL] = control
        return cls(
            problem=str(choices["problem"]),
            method=str(choices["method"]),
            llm=str(choices["llm"]),
            budget=str(config["budget"]["name"]),
            options=without_unset((key, str(options[key])) for key in sorted(options)),
        )

    @property
    def control(self) -> str:
        """What the run is as a control, in words; ``none`` if it is none."""
        return dict(self.options).get(CONTROL, NO_CONTROL)

    def without_programs(self) -> "RunKind":
        """Return the kind without what programs are made with: their number and the model."""
        made_by = [CONTROL, _PROGRAMS, "llm"]
        kept = (option for option in self.options if not is_covered_by(option[0], made_by))
        return replace(self, llm="", options=tuple(kept))

    def values(self, keys: Iterable[str]) -> list[str]:
        """Return the values of options; the word None stands for an absent option."""
        options = dict(self.options)
        return [str(options.get(key)) for key in keys]


def without_unset(options: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the options of a kind without those that are off by default and stay so."""
    return tuple(
        (key, value)
        for key, value in options
        if key not in _OFF_BY_DEFAULT or value not in ("None", "False")
    )


def _control(options: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return what a run is as a control, in words, and the options that make it one."""
    given = options.get("search.initial_programs")
    if given is not None:
        made_by = {"search.initial_programs", "search.initial_levels"}
        made_by |= set() if options.get(_PROGRAMS) else {_PROGRAMS}
        kept = {"both": "all programs", "upper": "upper programs"}
        programs = kept.get(str(options.get("search.initial_levels")), "programs")
        return f"{programs} of {_method_of(Path(str(given)))}", made_by
    if options.get(_PROGRAMS) == 0:
        return "no program", {_PROGRAMS}
    if options.get(_OPERATORS) in (["i1"], "['i1']"):
        return "sampled", {_OPERATORS}
    searchers = {options.get(f"method.{level}._target_") for level in ("lower", "upper")}
    if len(searchers) == 1 and None not in searchers:
        made_by = {key for key in options if key.startswith(("method.lower.", "method.upper."))}
        return f"searched by {str(*searchers).rpartition('.')[2]}", made_by
    if options.get("method._target_") == _SINGLE and options.get("search.seeds") == "varied":
        return "begun with programs by hand", {"search.seeds"}
    return NO_CONTROL, set()


def _method_of(place: Path) -> str:
    """Return the method of a run or of a run's checkpoint; the folder's name if it is gone."""
    for directory in (place, place.parent):
        try:
            return str(RunConfiguration.read(directory).choices["method"])
        except FileError:
            continue
    return place.name


def varying_options(kinds: Iterable[RunKind]) -> list[str]:
    """Return the options in which kinds differ that agree in all earlier options.

    Choices come first, so that a choice stands for all of its options. The choices in every run's
    name come before the others, since a method implies a memory.
    """
    return [key for key, _ in _differences(kinds, lambda kind: ())]


def _differences(
    kinds: Iterable[RunKind], known: Callable[[RunKind], tuple[str, ...]]
) -> Iterator[tuple[str, set[RunKind]]]:
    """Yield the options of :func:`varying_options`, each with the kinds that differ in it.

    Parameters
    ----------
    known
        Returns the values that a kind's name already holds.
    """
    parts = {kind: known(kind) for kind in kinds}
    keys = {key for kind in parts for key, _ in kind.options}
    for key in sorted(keys, key=lambda key: ("." in key, key not in MAIN_GROUPS, key)):
        values = {kind: kind.values([key]) for kind in parts}
        alike: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for kind, known_values in parts.items():
            alike[known_values].update(values[kind])
        differ = {kind for kind, known_values in parts.items() if len(alike[known_values]) > 1}
        if differ:
            yield key, differ
            parts = {kind: (*known_values, *values[kind]) for kind, known_values in parts.items()}


def name_kinds(kinds: Iterable[RunKind]) -> dict[RunKind, str]:
    """Name kinds by the options that distinguish them, safe as file names; sorted.

    A name always has the problem. It has an option, with its value, only if kinds with the same
    name so far differ in it, and not if it is unset.
    """
    ordered = sorted(set(kinds))
    heads = [
        head
        for head in MAIN_GROUPS
        if head == "problem"
        or len({getattr(kind, head) for kind in ordered}) > 1
        # The names of controls tell of which method.
        or (head == "method" and any(kind.control != NO_CONTROL for kind in ordered))
    ]

    def head_values(kind: RunKind) -> tuple[str, ...]:
        control = () if kind.control == NO_CONTROL else (kind.control,)
        return (*(getattr(kind, head) for head in heads), *control)

    differences = list(_differences(ordered, head_values))
    names: dict[RunKind, str] = {}
    for kind in ordered:
        values = dict(kind.options)
        options = [
            _option_label(key, values[key])
            for key, differ in differences
            if kind in differ and values.get(key, "None") != "None"
        ]
        name = re.sub(r"[^\w.=-]+", "_", "-".join([*head_values(kind), *options]))[:_LENGTH]
        while name in names.values():
            name += "_"
        names[kind] = name
    return names


def _option_label(key: str, value: str) -> str:
    """Return an option and its value; a class without its module."""
    if key.endswith(_CLASS):
        return f"{key.removesuffix(_CLASS)}={value.rpartition('.')[2]}"
    return f"{key}={value}"
