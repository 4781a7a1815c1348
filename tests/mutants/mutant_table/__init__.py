"""One-line mutants: what a hostile reviewer would break, and the quickest tests that notice.

The rows of each package of specahd stand in a module of its name, by file: the fragment, which
occurs once, its replacement, and the tests.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple


class Mutant(NamedTuple):
    """A fragment of a file, what stands in its place, and tests of which one fails then."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = tuple(
    Mutant(file, old, new, tuple(tests.split()))
    for package in iter_modules(__path__)
    for file, rows in import_module(f"{__name__}.{package.name}").ROWS.items()
    for old, new, tests in rows
)
