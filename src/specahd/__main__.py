"""``specahd`` and ``python -m specahd``: list the commands, or run one of them.

The commands are the primary configurations ``conf/*.yaml``; the first line of each file
describes the command.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

from specahd import __version__
from specahd.config import CONF_DIR, SAMPLES
from specahd.config.files import command_purpose

_USAGE = "usage: specahd COMMAND [option=value …]\n       specahd --version\n"


def commands() -> dict[str, str]:
    """Return the purpose of each command in one line, by the command's name."""
    return {path.stem: command_purpose(path.stem) for path in sorted(CONF_DIR.glob("*.yaml"))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command with the arguments that follow it; return the exit status.

    Parameters
    ----------
    arguments
        The command line after the program's name; None: that of the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    known = commands()
    match words:
        case [] | ["-h"] | ["--help"] | ["help"]:
            width = max(map(len, known))
            lines = [f"  {name:{width}}  {line}\n" for name, line in known.items()]
            sys.stdout.write(f"{_USAGE}\n{''.join(lines)}\n")
            samples = ", ".join(sorted(path.name for path in SAMPLES.iterdir()))
            sys.stdout.write(
                "specahd COMMAND --help lists a command's options.\n"
                f"Files to try it with, from anywhere: samples/ with {samples}\n"
                "  specahd solve samples/cvrp.vrp time_limit=10\n"
                "  specahd solve samples/stops.csv capacity=30 speed=8.3 time_limit=10\n"
            )
            return 0
        case ["--version"]:
            sys.stdout.write(f"specahd {__version__}\n")
            return 0
        case [command, *rest] if command in known:
            sys.argv = [f"specahd {command}", *rest]
            status: int = import_module(f"specahd.{command}").main()
            return status
        case [other, *_]:
            # Imported here, since Hydra is slow to import.
            from specahd.config.messages import suggestion

            hint = suggestion(other, known, "specahd {}")
            sys.stderr.write(f"Expected a command of {', '.join(known)}, got {other!r}.{hint}\n")
            return 2
    raise AssertionError  # all lists are matched above


if __name__ == "__main__":
    sys.exit(main())
