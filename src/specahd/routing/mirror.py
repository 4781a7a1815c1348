"""Download of the public sets from a mirror into a folder, verified by checksum.

``public.sha256`` beside this file lists the files of the folder: the SHA-256, the size
and the path of each. A file gets its name only after its checksum was verified, so a
fetch that was interrupted continues where it stopped.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from threading import Event
from urllib.parse import quote

import pooch
import requests
from filelock import FileLock

from specahd.core.errors import FileError, RunFailed
from specahd.core.settings import Transfers

MANIFEST = Path(__file__).with_name("public.sha256")
OWN = ".fetch"
"""Name of the folder for temporary files of a fetch; DVC and git ignore it."""
_REMOTE = ("http://", "https://")
_LISTED = 4
# HTTP statuses that are temporary: the request was too slow, or there were too many.
_LATER = (408, 429)
_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file of the manifest."""

    path: str
    size: int
    sha256: str

    def is_in(self, folder: Path) -> bool:
        """Return whether a folder has the file with the right bytes."""
        path = folder / self.path
        return (
            path.is_file()
            and path.stat().st_size == self.size
            and pooch.file_hash(str(path)) == self.sha256
        )


@dataclass(frozen=True)
class Mirror(Transfers):
    """A mirror that files are fetched from.

    Parameters
    ----------
    place
        A directory, or the http(s) address of one.
    """

    place: str

    @property
    def remote(self) -> bool:
        """Whether the mirror is reached over a network."""
        return self.place.startswith(_REMOTE)

    def address(self, entry: ManifestEntry) -> str:
        """Return the address or the path of a file on the mirror."""
        if self.remote:
            return f"{self.place.rstrip('/')}/{quote(entry.path)}"
        return str(Path(self.place) / entry.path)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.remote and not Path(self.place).is_dir():
            raise FileError(f"Expected mirror to be a directory or http(s)://…, got {self.place}.")


def read_manifest(path: Path = MANIFEST) -> list[ManifestEntry]:
    """Return the expected files of the folder, in the order of paths."""
    entries = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            sha256, size, name = line.split(" ", 2)
            entries.append(ManifestEntry(name, int(size), sha256))
    return entries


def missing_entries(folder: Path, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
    """Return the entries whose files are missing in the folder or have the wrong bytes.

    Raises
    ------
    FileError
        The folder has files that are not in the manifest, which DVC would include.
    """
    listed = {entry.path for entry in entries}
    found = {
        path.relative_to(folder).as_posix()
        for top in folder.glob("*")
        # Another fetch may be changing its temporary files.
        if top.name != OWN
        for path in (top, *top.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }
    if strange := sorted(found - listed):
        raise FileError(
            f"{folder} holds {_count(strange)} not of the public sets, which move elsewhere: "
            f"{_list(strange)}."
        )
    return [entry for entry in entries if not entry.is_in(folder)]


def fetch(
    mirror: Mirror,
    folder: Path,
    entries: Sequence[ManifestEntry],
    step: Callable[[], None] = lambda: None,
) -> None:
    """Download the missing files of the folder, calling ``step`` after each.

    Several processes may fetch into one folder at a time.

    Raises
    ------
    FileError
        The mirror lacks files or has other bytes in them; all other files were fetched.
    RunFailed
        The mirror does not answer.
    """
    threads = mirror.connections if mirror.remote else 1
    with _staging(folder) as staging, ThreadPoolExecutor(threads) as pool:
        work = _Work(mirror, staging, folder)
        jobs = {
            pool.submit(work.fetch_file, entry): entry for entry in missing_entries(folder, entries)
        }
        refused = []
        try:
            for job in as_completed(jobs):
                if (reason := job.result()) is not None:
                    refused.append(f"{jobs[job].path} ({reason})")
                step()
        except BaseException:
            work.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if refused:
        raise FileError(f"{mirror.place}: {_count(refused)} refused: {_list(sorted(refused))}.")


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Yield a folder for files that are not verified yet; one process at a time has one.

    It lies inside ``folder``, which may be on another file system than its parent.
    """
    own = folder / OWN
    try:
        own.mkdir(parents=True, exist_ok=True)
        lock = FileLock(own / "lock").acquire()
    except OSError as error:
        raise FileError(f"Cannot write to the folder {folder}: {error.strerror}.") from None
    with lock:
        # A fetch that was killed left its temporary files.
        for stale in own.glob("fetch-*"):
            shutil.rmtree(stale, ignore_errors=True)
        staging = Path(mkdtemp(prefix="fetch-", dir=own))
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


class _Work:
    """A fetcher of single files, for use by several threads."""

    def __init__(self, mirror: Mirror, staging: Path, folder: Path) -> None:
        self._mirror = mirror
        self._staging = staging
        self._folder = folder
        self.stopped = Event()
        pooch.get_logger().setLevel("ERROR")

    def fetch_file(self, entry: ManifestEntry) -> str | None:
        """Fetch one file; return the reason if the mirror's file is refused, else None."""
        address = self._mirror.address(entry)
        attempts = self._mirror.attempts if self._mirror.remote else 1
        for attempt in range(1, attempts + 1):
            try:
                self._place(entry, address)
                return None
            except requests.HTTPError as error:
                if error.response is None:
                    raise
                status = error.response.status_code
                if status < 500 and status not in _LATER:
                    return f"HTTP status {status}"
                reason = f"HTTP status {status}"
            except requests.RequestException as error:
                reason = type(error).__name__
            except FileNotFoundError:
                return "not there"
            except OSError as error:
                raise RunFailed(f"Cannot copy {address} to {self._folder}: {error}.") from None
            except ValueError:
                return "wrong bytes"
            if self.stopped.wait(attempt if attempt < attempts else 0):
                break
        raise RunFailed(
            f"{address} did not arrive in {attempts} attempts ({reason}); "
            "what arrived before is kept, so run the command again."
        )

    def _place(self, entry: ManifestEntry, address: str) -> None:
        cache = pooch.create(
            path=self._staging,
            base_url="",
            registry={entry.path: f"sha256:{entry.sha256}"},
            urls={entry.path: address},
        )

        def download(url: str, file: str, _: object) -> None:
            if self._mirror.remote:
                self._download(url, Path(file), entry.size)
            else:
                shutil.copyfile(url, file)

        # pooch creates folders in a way that is not safe with two threads.
        (self._staging / entry.path).parent.mkdir(parents=True, exist_ok=True)
        verified = cache.fetch(entry.path, downloader=download)
        target = self._folder / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        # pooch leaves the mode of a temporary file.
        Path(verified).chmod(_READABLE)
        Path(verified).replace(target)

    def _download(self, url: str, file: Path, size: int) -> None:
        """Download a file from a server; stop and raise if it is larger than expected."""
        with (
            requests.get(url, stream=True, timeout=self._mirror.timeout) as response,
            file.open("wb") as out,
        ):
            response.raise_for_status()
            for chunk in response.iter_content(65536):
                out.write(chunk)
                if out.tell() > size:
                    raise ValueError(url)
                if self.stopped.is_set():
                    raise requests.ConnectionError(url)
            if out.tell() < size:
                raise requests.ConnectionError(url)


def _count(names: Sequence[str]) -> str:
    return "1 file" if len(names) == 1 else f"{len(names)} files"


def _list(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join([*names[:_LISTED], *more])
