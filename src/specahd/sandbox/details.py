"""The one line that is told of a failure: the same in every run."""

import re

_MAX_READ = 1000
_ADDRESS = re.compile(r"0x[0-9A-Fa-f]+")
_DIRECTORY = re.compile(r"(?<![\w./~-])/(?:[\w.+~-]+/)+")


def one_line(text: str) -> str:
    """Return a text without line breaks, addresses of objects and directories of this machine.

    Children say their details so, which keeps an honest program's journal the same
    from run to run; the parent, which trusts no child, does it again.
    """
    text = _ADDRESS.sub("0x0", text[:_MAX_READ])
    return " ".join(_DIRECTORY.sub("", text).split())


def describe(error: BaseException) -> str:
    """Say type and message of what a program raised; of a system error only the reason."""
    try:
        message = error.strerror if isinstance(error, OSError) else str(error)
    except Exception:  # noqa: BLE001  the message may hold anything, nested to any depth
        message = ""
    return one_line(f"{type(error).__name__}: {message}" if message else type(error).__name__)
