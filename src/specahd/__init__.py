"""SpecAHD: localize to specialize for automated heuristic design in routing."""

import sys

# Of a command, Python imports this before all else: as a module of ``-m``, or for the script. As
# long as it imports, Ctrl-C shall end it and show no traceback; config/process.py goes on.
if "".join(sys.argv[:1]).rpartition("/")[2] in ("-m", "specahd"):
    # What is inside the module signal: that one imports others, in which Ctrl-C would be seen.
    import _signal  # type: ignore[import-not-found]  # no stub describes it

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

__version__ = "0.2.0"
