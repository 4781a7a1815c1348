"""SpecAHD: localize to specialize for automated heuristic design in routing."""

import sys

__version__ = "0.1.0"

# Of a command, Python imports this before all else: as a module of ``-m``, or for the script. As
# long as it imports, Ctrl-C shall end it and show no traceback; config/process.py goes on.
if "".join(sys.argv[:1]).rpartition("/")[2] in ("-m", "specahd"):
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
