"""``make ui``: MLflow's own server for the store of this folder, on a port of this machine."""

import errno
import os
import socket
import sys
from collections.abc import Sequence

from specahd.core.errors import ConfigError, UserError, WriteError
from specahd.tracking.store import (
    ARTIFACTS,
    EXPERIMENT,
    PORT,
    URI,
    Store,
    sqlite_file,
    ui_address,
)

# The server is for viewing only: runs write to the database themselves.
_SERVER = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


def free_port(text: str) -> int:
    """Return the requested port, if this machine has it free.

    Raises
    ------
    ConfigError
        The text is not a port, or the port is not available.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535):
        raise ConfigError(f"Expected PORT from 1 to 65535, got {text!r}.")
    port = int(text)
    with socket.socket() as trial:
        # As the server does: a server that has just ended does not block the port.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError as error:
            reason = {errno.EADDRINUSE: "taken, perhaps by another make ui"}.get(
                error.errno or 0, f"not to be had ({error.strerror})"
            )
            other = port + 1 if 1024 <= port < 65535 else PORT
            raise ConfigError(f"Port {port} is {reason}; try make ui PORT={other}.") from None
    return port


def prepare_store(port: int) -> str:
    """Create a missing store; return the message to print before the server starts.

    Raises
    ------
    WriteError
        The store cannot be created.
    """
    text = ui_address(URI, "1", port) + "\n"
    database = sqlite_file(URI)
    if database is None or database.exists():
        return text
    try:
        Store(URI, ARTIFACTS, EXPERIMENT).connect()
    except OSError as error:
        raise WriteError(f"Cannot make {database}: {error.strerror}.") from None
    return f"There is no run in {database.parent} yet: train, and it is at this address.\n{text}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Replace this process by the server on the given port; return 2 if that is impossible."""
    [text] = sys.argv[1:] if arguments is None else arguments
    try:
        port = free_port(text)
        text = prepare_store(port)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(text)
    sys.stdout.flush()
    place = ["--backend-store-uri", URI, "--host", "127.0.0.1", "--port", str(port)]
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", *place]
    os.execve(sys.executable, command, {**os.environ, **_SERVER})


if __name__ == "__main__":
    sys.exit(main())
