"""Files that somebody else may have written: read as plain data, bounded, compared with a shape.

A shape is what a value must be: a type as annotations have it, a pattern that a text must match
in full, a tuple of shapes of which one will do, a list of one shape for a list of such values, or
a mapping of field names to shapes, of which every field must be there.
"""

import json
import re
import stat
import types
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import yaml

from specahd.core.errors import FileError

Shape = Any

NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")
"""What programs are called: a part of a file's name that leads nowhere else."""
_INTEGER = 2**63
_NUMBER = 1e300
_DEPTH = 50


def content(path: Path, limit: int) -> bytes:
    """Return what a file holds.

    Raises
    ------
    FileError
        It is no plain file, cannot be read, or has more than ``limit`` bytes.
    """
    try:
        # Opening a pipe would wait for a writer.
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileError(f"{path} is not a file.")
        with path.open("rb") as file:
            read = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name is none"
        raise FileError(f"Cannot read {path}: {reason}.") from None
    if len(read) > limit:
        raise FileError(f"{path} has more than {limit:,} bytes, so it is not read.")
    return read


def parse_json(text: bytes) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        It is none, or one that readers may understand differently; a phrase says why.
    """
    try:
        return json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError:
        raise ValueError("it is not JSON") from None
    except ValueError as error:
        raise _phrase(error) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path, limit: int) -> Any:
    """Return the value of a JSON file; None if it cannot be read or is none."""
    try:
        return parse_json(content(path, limit))
    except (FileError, ValueError):
        return None


def parse_yaml(text: bytes) -> Any:
    """Return the value of a YAML text: scalars, lists and mappings, nothing by reference.

    Raises
    ------
    ValueError
        It is none; a phrase says why.
    """
    try:
        return yaml.load(text.decode(), _PlainLoader)  # one that makes no objects
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except yaml.YAMLError:
        raise ValueError("it is not YAML") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise _phrase(error) from None


def misfit(value: Any, shape: Shape, name: str = "") -> str | None:
    """Return the name of a part that is not as its shape says, None if all of it is.

    Numbers are finite and fit 64 bits, and an integer is a number too.

    Parameters
    ----------
    name
        Of the value; that of a part is ``name.field`` or ``name[index]``.
    """
    if isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            return name or "it"
        for field, of_field in shape.items():
            where = f"{name}.{field}" if name else field
            found = where if field not in value else misfit(value[field], of_field, where)
            if found is not None:
                return found
        return None
    origin: Any = get_origin(shape)
    arguments = get_args(shape)
    if isinstance(shape, list) or origin in (list, Sequence):
        if not isinstance(value, list):
            return name or "it"
        [of_item] = shape if isinstance(shape, list) else arguments
        if all(misfit(item, of_item) is None for item in _extremes(value)):
            return None
        parts = (misfit(item, of_item, f"{name}[{index}]") for index, item in enumerate(value))
        return next((part for part in parts if part is not None), None)
    if origin in (dict, Mapping):
        if not isinstance(value, dict):
            return name or "it"
        of_key, of_item = arguments
        for key, item in value.items():
            if misfit(key, of_key) is not None or misfit(item, of_item) is not None:
                return name or "it"
        return None
    if isinstance(shape, tuple) or origin in (Union, types.UnionType):
        choices = shape if isinstance(shape, tuple) else arguments
        fits = any(misfit(value, each, name) is None for each in choices)
        return None if fits else name or "it"
    return None if _fits(value, shape) else name or "it"


def check_plain(value: Any, name: str = "", depth: int = _DEPTH) -> None:
    """Refuse what is no plain data: anything but scalars, lists and mappings with text as keys.

    Raises
    ------
    ValueError
        A part is something else, or holds an interpolation; a phrase names it.
    """
    where = name or "it"
    if depth == 0:
        raise ValueError(f"{where} is nested too deeply")
    if isinstance(value, dict):
        for key, item in value.items():
            # A model's options may have numbers as keys.
            if not _fits(key, int) and not (_fits(key, str) and _simple(key)):
                raise ValueError(f"{where} has a key that is no name")
            check_plain(item, f"{name}.{key}" if name else str(key), depth - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            check_plain(item, f"{name}[{index}]", depth - 1)
    elif isinstance(value, str):
        if not _encodable(value):
            raise ValueError(f"{where} is no text")
        if "${" in value or value == "???":
            raise ValueError(f"{where} holds an interpolation or nothing")
    elif not (value is None or isinstance(value, bool) or _fits(value, float)):
        raise ValueError(f"{where} is no text, no number, no list and no group of options")


def told(text: str, length: int = 80) -> str:
    """Return a foreign text as it may be shown to the user: one short line of ASCII."""
    plain = ascii(text)[1:-1]
    return plain if len(plain) <= length else f"{plain[: length - 3]}..."


def _extremes(values: list[Any]) -> Iterator[Any]:
    """Yield values that fit a shape if and only if all do: a list may have a million numbers."""
    if not set(map(type, values)) <= {str, int, float, bool, type(None)}:
        yield from values
        return
    for kind in set(map(type, values)):
        alike: list[Any] = [value for value in values if type(value) is kind]
        if kind in (int, float):
            yield from (min(alike), max(alike))
        else:
            yield from set(alike)


def _simple(key: str) -> bool:
    return "${" not in key and len(key) <= 200 and key.isprintable()


def _fits(value: Any, shape: Shape) -> bool:
    """Say whether a value has a shape without parts."""
    if shape in (Any, object):
        return True
    if shape is None or shape is type(None):
        return value is None
    if shape is bool:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if shape is int:
        return isinstance(value, int) and abs(value) < _INTEGER
    if shape is float:
        # Not isfinite, which cannot take every integer.
        return isinstance(value, int | float) and -_NUMBER <= value <= _NUMBER
    if not isinstance(value, str):
        return False
    if isinstance(shape, re.Pattern):
        return shape.fullmatch(value) is not None
    if isinstance(shape, type) and issubclass(shape, StrEnum):
        return value in list(shape)
    return shape is str


def _phrase(error: ValueError) -> ValueError:
    # Of a huge integer, what Python would do about it comes second.
    return ValueError(str(error).partition(":")[0])


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("it names a field twice")
    return made


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Refuses tags, repeated keys, and references, with which a short text makes a huge value."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent) or self.peek_event().tag is not None:
            raise ValueError("it has an alias or a tag")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [str(key.value) for key, _ in node.value]
        if len(set(keys)) < len(keys):
            raise ValueError("it names a field twice")
        return super().construct_mapping(node, deep=deep)
