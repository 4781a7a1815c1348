"""Read values from files as typed data (by msgspec), or refuse them with one phrase.

A type is a ``msgspec.Struct``, a dataclass or an annotation of plain types. Unknown fields are
ignored, unless the type forbids them.
"""

import json
import re
import stat
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from specahd.core.errors import FileError

NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")
"""A program's name: safe as a part of a file name."""
Name = Annotated[str, msgspec.Meta(pattern=rf"^{NAME.pattern}\Z")]
Finite = (
    Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    | Annotated[float, msgspec.Meta(ge=-1e300, le=1e300)]
)
"""A number; an integer stays an integer, so that it is written the same again."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""A number of things, which a float can hold."""
_PATH = re.compile(r"(.*?)(?: - at `(?:key in )?\$\.?(.*)`)?", re.DOTALL)


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file.

    Raises
    ------
    FileError
        The path is not a regular file, cannot be read, or has more than ``limit`` bytes.
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


def parse_json(text: bytes, kind: Any) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        The text is not JSON, or its value is of another type; a phrase names the field.
    """
    try:
        # Not by msgspec: it refuses half of a surrogate pair, and a model may write one.
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        raise ValueError("it is not JSON") from None
    return convert(value, kind)


def read_json(path: Path, limit: int, kind: Any) -> Any:
    """Return the value of a JSON file; None if it cannot be read or is of another type."""
    try:
        return parse_json(read_bytes(path, limit), kind)
    except (FileError, ValueError):
        return None


def parse_yaml(text: bytes, kind: Any) -> Any:
    """Return the value of a YAML text.

    Raises
    ------
    ValueError
        The text is not YAML, or its value is of another type; a phrase names the field.
    """
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ValueError("it is not YAML") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return convert(value, kind)


def convert(value: Any, kind: Any) -> Any:
    """Convert plain data to a type.

    Raises
    ------
    ValueError
        The data does not fit; a phrase names the field.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_error_phrase(error)) from None


def to_tuples(value: Any) -> Any:
    """Convert lists from JSON, nested or not, back to tuples."""
    return tuple(map(to_tuples, value)) if isinstance(value, list) else value


def printable(text: str, length: int = 80) -> str:
    """Return an untrusted text as one short line of ASCII, safe to show on a terminal."""
    plain = ascii(text)[1:-1]
    return plain if len(plain) <= length else f"{plain[: length - 3]}..."


def _refuse_constant(constant: str) -> Any:
    raise ValueError(constant)


def _error_phrase(error: msgspec.ValidationError) -> str:
    """Return msgspec's message with the field first: ``nodes[...]: expected int, got str``."""
    match = _PATH.fullmatch(str(error))
    words, field = match.groups() if match else (str(error), None)
    words = re.sub("matching regex .*", "of another form", words, flags=re.DOTALL)
    words = printable(words.replace("`", "").removeprefix("Object "), 200)
    words = words[:1].lower() + words[1:]
    return f"{printable(field)}: {words}" if field else words
