"""The manifest of a checkpoint: the schema with which it is written and read.

A checkpoint may be untrusted (``docs/explanation/threat-model.md``): unknown fields are refused,
and every name and number is checked.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from specahd.core.plain import Name
from specahd.core.program import Tier
from specahd.core.settings import Accept

_Setting = Annotated[str, Meta(pattern=r"^(?!.*\$\{)[^\x00-\x1f\x7f]{0,200}\Z")]
_Option = Annotated[str, Meta(pattern=r"^[A-Za-z0-9-][A-Za-z0-9_-]{0,199}\Z")]
_Skill = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,200}/[0-9]{1,9}\Z")]
_Count = Annotated[int, Meta(ge=1, le=2**63 - 1)]
_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Number = Annotated[float, Meta(ge=-1e300, le=1e300)]


class Entry(Struct, forbid_unknown_fields=True, frozen=True):
    """A program's entry in the manifest; its source is a separate file."""

    id: Name
    idea: str
    contract: Name
    operator: Name
    parents: Sequence[Name]
    skills: Sequence[_Skill]
    tier: Tier


class Descriptor(Struct, forbid_unknown_fields=True, frozen=True):
    """The names of the descriptor's coordinates, and how they are standardised.

    ``scale`` is no smaller than :meth:`ResponseArchive.statistics` gives it.
    """

    names: Sequence[Name]
    mean: Sequence[_Number]
    scale: Sequence[Annotated[float, Meta(ge=1e-12, le=1e300)]]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.mean) == len(self.scale):
            raise ValueError("Expected as many means and scales as names")


class Manifest(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True, kw_only=True):
    """``manifest.json``; a field that has its default is not written.

    Parameters
    ----------
    uppers
        All upper programs if there are several; the first is ``upper`` too.
    """

    schema: int
    problem: Name
    settings: dict[str, Any]
    accept: Accept
    neighbours: _Count
    upper: Entry
    repertoire: Annotated[list[Entry], Meta(min_length=1)]
    descriptor: Descriptor
    uppers: list[Entry] = []
    portfolio: bool = False
    passes: _Count = 1
    tries: _Count = 1
    training: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if self.uppers and (len(self.uppers) == 1 or self.uppers[0] != self.upper):
            raise ValueError("Expected uppers to be several, the first of them upper")
        for name, value in self.settings.items():
            try:
                convert({name: value}, dict[_Option, _Setting | _Integer | _Number | bool | None])
            except ValidationError:
                raise ValueError(f"Expected no settings.{name} like this") from None
        names = [entry.id for entry in self.programs]
        if len(set(names)) < len(names):
            raise ValueError("Expected every program once")

    @property
    def turns(self) -> list[Entry]:
        """The upper programs in the order of their turns."""
        return self.uppers or [self.upper]

    @property
    def programs(self) -> list[Entry]:
        """All programs, the upper ones first."""
        return [*self.turns, *self.repertoire]


class Schema(Struct):
    """The version of a manifest, which is compared first."""

    schema: int
