"""SpecAHD: localize to specialize for automated heuristic design in routing."""

import sys

# Python imports this module first when a command starts, by ``python -m`` or by the script. During
# the imports, Ctrl-C ends the process without a traceback; config/process.py handles it later.
if "".join(sys.argv[:1]).rpartition("/")[2] in ("-m", "specahd"):
    # The C part of ``signal``: that module imports others, and Ctrl-C would show a traceback there.
    import _signal  # type: ignore[import-not-found]  # no stub describes it

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

__version__ = "0.2.0"
