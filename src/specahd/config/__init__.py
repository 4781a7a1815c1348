"""Where the configuration lives; its schemas; the one way in for every command."""

from pathlib import Path

_PACKAGED = Path(__file__).resolve().parents[1] / "conf"
_CHECKOUT = Path(__file__).resolve().parents[3] / "conf"

CONF_DIR = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
"""``conf/`` at the top of a checkout, ``specahd/conf`` inside an installed wheel."""
SAMPLES = Path(__file__).resolve().parents[1] / "samples"
"""Files to try ``specahd solve`` with: one of each problem, and a table of stops."""


def find_file(file: str | Path) -> str:
    """Return the path of a file; a sample that is missing here comes with specahd."""
    ours = SAMPLES.parent / file
    missing = not Path(file).exists() and ours.parent == SAMPLES and ours.is_file()
    return str(ours if missing else file)
