"""The configuration: its folder, its schemas, and the entry point of every command."""

from pathlib import Path

from specahd.core.folders import exists

_PACKAGED = Path(__file__).resolve().parents[1] / "conf"
_CHECKOUT = Path(__file__).resolve().parents[3] / "conf"

CONF_DIR = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
"""``conf/`` at the top of a checkout, ``specahd/conf`` inside an installed wheel."""
SAMPLES = Path(__file__).resolve().parents[1] / "samples"
"""Folder of example files for ``specahd solve``: one per problem, and a table of stops."""


def find_file(file: str | Path) -> str:
    """Return the path of a file; a missing ``samples/NAME`` becomes the sample of the package."""
    ours = SAMPLES.parent / file
    missing = not exists(Path(file)) and ours.parent == SAMPLES and ours.is_file()
    return str(ours if missing else file)
