"""Where the configuration lives; its schemas; the one way in for every command."""

from pathlib import Path

_PACKAGED = Path(__file__).resolve().parents[1] / "conf"
_CHECKOUT = Path(__file__).resolve().parents[3] / "conf"

CONF_DIR = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
"""``conf/`` at the top of a checkout, ``specahd/conf`` inside an installed wheel."""
SAMPLES = Path(__file__).resolve().parents[1] / "samples"
"""Files to try ``specahd solve`` with: one of each problem, and a table of stops."""
