"""``python -m specahd.fetch mirror=PLACE``: fill ``data/`` with the public instances.

The place is a directory or an http(s) address. Files that are present and correct are kept; files
whose bytes differ from the manifest are refused. Without a mirror, the present files are verified.
"""

import sys
from pathlib import Path

from omegaconf import DictConfig

from specahd.config.cli import run_command
from specahd.config.process import write_lines
from specahd.core.errors import FileError
from specahd.tracking.observers import ProgressObserver


def fetch(config: DictConfig) -> None:
    """Fetch missing files, or report that some are missing."""
    # Imported here, because the module imports packages that only the extra installs.
    from specahd.routing import mirror

    folder = Path(config.folder)
    entries = mirror.read_manifest()
    lacking = mirror.missing_entries(folder, entries)
    if lacking and config.mirror is None:
        raise FileError(
            f"{folder} lacks {len(lacking)} of {len(entries)} files, or has other bytes in them, "
            f"the first {lacking[0].path}; write mirror=DIRECTORY or mirror=https://…"
        )
    if lacking:
        source = mirror.Mirror(
            config.mirror,
            connections=config.connections,
            attempts=config.attempts,
            timeout=config.timeout,
        )
        progress = ProgressObserver()
        progress.on_phase(f"files from {config.mirror}", len(lacking))
        mirror.fetch(source, folder, entries, progress.on_step)
    size = sum(entry.size for entry in entries) / 2**20
    write_lines(f"{folder}: {len(entries)} files, {size:.1f} MiB, every hash is right.")


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(fetch, "fetch", extra="train")


if __name__ == "__main__":
    sys.exit(main())
