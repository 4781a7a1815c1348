"""numba's decorator with a cache of machine code on disk that belongs to the user.

numba's own cache ends with an error where neither the sources' folder nor the user's home can be
written, and does not notice a change of a function in another file. The key of this one is the
content of every source file of this package that a loop is made of, with the versions of numba,
llvmlite and Python, and the processor. So a new installation of the same sources reads what an
earlier one compiled. A file that cannot be read, or whose bytes are not those that were written,
counts as absent; one that cannot be written is left out.

The files hold pickles. They are read only from folders that the user names, and from folders that
nobody else can write.
"""

import hashlib
import os
import pickle
import platform
import re
import shutil
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from numba.core.caching import Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_F = TypeVar("_F", bound=Callable[..., Any])

VARIABLE = "SPECAHD_CACHE"
"""Environment variable with the folders of the cache, separated as those of ``PATH`` are."""

LOOPS: list[Any] = []
"""All loops of this process that are cached on disk."""

_PACKAGE = Path(__file__).parents[1]
_VERSIONS = (numba.__version__, llvmlite.__version__, *platform.python_version_tuple()[:2])
_IMPORTS = re.compile(r"^from (specahd[\w.]*) import (\([^)]*\)|.*)|^import (specahd[\w.]*)", re.M)
_VERSIONS_KEPT = 8
"""Most versions of one module's loops in the cache; of more, the oldest are removed."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def njit(signature: Any = None, *, cache: bool = False, **options: Any) -> Callable[[_F], _F]:
    """Return ``numba.njit`` of a signature, of several or of none, with this module's cache."""

    def decorate(function: _F) -> _F:
        loop: Any = numba.njit(**options)(function)
        if cache:
            LOOPS.append(loop)
            keep(loop)
        if signature is not None:
            for each in signature if isinstance(signature, list) else [signature]:
                loop.compile(each)
            loop.disable_compile()
        return loop  # type: ignore[no-any-return]  # it is called like the function

    return decorate


def keep(loop: Any, others: Iterable[Path] = ()) -> None:
    """Cache a loop on disk.

    Parameters
    ----------
    others
        Source files outside this package that determine the types for which the loop is compiled.
    """
    loop._cache = LoopCache(loop.py_func, tuple(others))


class LoopCache(Cache):
    """The cache of one function: a file for each signature and processor."""

    def __init__(self, function: Callable[..., Any], others: tuple[Path, ...]) -> None:
        self._py_func = function
        code = function.__code__
        source = Path(code.co_filename)
        name = re.sub(r"[^\w.-]", "", f"{function.__qualname__}-{code.co_firstlineno}")
        self._place = Path(f"{function.__module__}-{digest((source, *others))}", name)
        self.enable()

    @property
    def cache_path(self) -> str:
        return str(self._place.parent)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._enabled:
            return None
        key = self._index_key(sig, target_context.codegen())
        for folder in folders():
            with suppress(OSError):
                body = _checked((folder / self._file(key)).read_bytes())
                if body is not None:
                    found, payload = pickle.loads(body)
                    if found == key:
                        return CompileResult._rebuild(target_context, *payload)
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        folder = folder_to_write()
        if not self._enabled or folder is None or data.library.has_dynamic_globals:
            return
        key = self._index_key(sig, data.codegen)
        body = dumps((key, data._reduce()))
        with suppress(OSError):
            path = folder / self._file(key)
            _make_version(path.parent)
            draft = path.with_suffix(f".{uuid.uuid4().hex[:16]}")
            try:
                draft.write_bytes(hashlib.sha256(body).digest() + body)
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)

    def _file(self, key: Any) -> Path:
        of_key = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self._place.with_name(f"{self._place.name}-{of_key}.loop")


def _checked(data: bytes) -> bytes | None:
    """Return the content of a file without its hash, or None if it has another hash."""
    body = data[32:]
    return body if hashlib.sha256(body).digest() == data[:32] else None


def _make_version(folder: Path) -> None:
    """Make the folder of one version of a module, and remove the oldest of too many versions."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    module = folder.name.rpartition("-")[0]
    versions = sorted(folder.parent.glob(f"{module}-*"), key=lambda each: each.stat().st_mtime)
    for older in versions[:-_VERSIONS_KEPT]:
        shutil.rmtree(older, ignore_errors=True)


@cache
def folders() -> tuple[Path, ...]:
    """Return the folders that loops are read from: those that the user names, and one of the user.

    A user who names a folder that can be written has no other. Otherwise the first of
    ``$XDG_CACHE_HOME/specahd`` or ``~/.cache/specahd``, and ``specahd-UID`` in ``$TMPDIR``,
    ``/tmp``, ``/var/tmp`` and ``/dev/shm``, that can be made and that nobody else can write, is the
    last one. There may be none.
    """
    words = os.environ.get(VARIABLE, "").split(os.pathsep)
    named = [Path(word).absolute() for word in words if word]
    if not named and (other := os.environ.get("NUMBA_CACHE_DIR")):
        named = [Path(other).absolute() / "specahd"]
    for folder in named:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    if not any(map(_writable, named)):
        named += islice(filter(_owned, _places_of_user()), 1)
    return tuple(named)


def folder_to_write() -> Path | None:
    """Return the first folder of :func:`folders` that this process can write, None if none."""
    return next(filter(_writable, folders()), None)


def variables() -> dict[str, str]:
    """Return the environment variables with which another process uses the same folders."""
    found = os.pathsep.join(map(str, folders()))
    return {VARIABLE: found} if found else {}


def _places_of_user() -> Iterator[Path]:
    home = os.environ.get("XDG_CACHE_HOME", "")
    # A user without an entry in the system's list has no home.
    with suppress(RuntimeError):
        base = Path(home) if Path(home).is_absolute() else Path.home() / ".cache"
        yield base / "specahd"
    for place in (os.environ.get("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"):
        if place:
            yield Path(place).absolute() / f"specahd-{os.geteuid()}"


def _owned(folder: Path) -> bool:
    """Return whether the folder exists, made here if absent, and only this user can write it."""
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        found, parent = folder.lstat(), folder.parent.stat()
        ours = stat.S_ISDIR(found.st_mode) and not found.st_mode & _OTHERS_WRITE
        users = found.st_uid == os.geteuid() and parent.st_uid in (0, os.geteuid())
        return ours and users and _writable(folder)
    return False


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


@cache
def digest(sources: tuple[Path, ...]) -> str:
    """Return a hash of files, of those of this package that they import, and of the versions."""
    texts: dict[Path, str] = {}
    todo = list(sources)
    while todo:
        path = todo.pop()
        if path not in texts:
            texts[path], imported = _source(path)
            todo += imported
    # The same wherever the package is installed.
    named = sorted(
        (str(path.relative_to(_PACKAGE)) if path.is_relative_to(_PACKAGE) else path.name, text)
        for path, text in texts.items()
    )
    return hashlib.sha256(repr((_VERSIONS, named)).encode()).hexdigest()[:16]


@cache
def _source(path: Path) -> tuple[str, list[Path]]:
    """Return the hash of a file's text, and the files of this package that it imports."""
    text = path.read_bytes()
    imported: dict[Path, None] = {}
    for module, names, plain in _IMPORTS.findall(text.decode()):
        module = module or plain
        for name in ("", *re.findall(r"\w+", names)):
            place = _PACKAGE.joinpath(*module.split(".")[1:], name)
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                # This module is no part of what is compiled.
                if file.is_file() and file != Path(__file__):
                    imported[file] = None
    return hashlib.sha256(text).hexdigest(), list(imported)
