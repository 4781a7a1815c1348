"""SpecAHD: localize to specialize for automated heuristic design in routing."""

import os
import sys

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C or SIGTERM ended."""


def end_interrupted(*_: object) -> None:
    """Handle Ctrl-C before a command has begun its work: say so, and end the process at once."""
    try:
        os.write(2, b"Interrupted; nothing was written.\n")
    finally:
        os._exit(INTERRUPTED)


# Python imports this module first when a process of ours starts, by ``python -m`` or by the script.
# During the imports, Ctrl-C ends a command with one line, and its helpers silently;
# config/process.py handles it later.
if "".join(sys.argv[:1]).rpartition("/")[2] in ("-m", "specahd"):
    # The C part of ``signal``: that module imports others, and Ctrl-C would show a traceback there.
    import _signal  # type: ignore[import-not-found]  # no stub describes it

    _helper = any(word.count(".") > 1 for word in sys.orig_argv if word.startswith("specahd."))
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL if _helper else end_interrupted)

__version__ = "0.2.0"
