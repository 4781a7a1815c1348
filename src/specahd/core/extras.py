"""Optional dependencies (extras of pyproject.toml), and the error if one is missing."""

import re
from importlib.metadata import PackageNotFoundError, distribution, requires

from specahd.core.errors import ConfigError

_NEEDED = re.compile(r"([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def require(extra: str, what: str) -> None:
    """Check that the packages of an extra are installed.

    Raises
    ------
    ConfigError
        One of them is not installed; the message contains the command that installs them.
    """
    requirements = map(_NEEDED.match, requires("specahd") or ())
    for name in [found[1] for found in requirements if found and found[2] == extra]:
        try:
            distribution(name)
        except PackageNotFoundError:
            raise ConfigError(
                f"{what} needs the packages of specahd[{extra}]: pip install 'specahd[{extra}]'."
            ) from None
