"""Fetching the public instances: real processes, and a real server that misbehaves."""

import hashlib
import http.server
import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import commands
from specahd.core.errors import FileError, RunFailed
from specahd.routing.mirror import OWN, ManifestEntry, Mirror, fetch, missing_entries, read_manifest

pytestmark = pytest.mark.integration

FILES = {
    f"set{number % 3}/file {number}.txt": f"instance {number}\n".encode() * (number + 1)
    for number in range(12)
}
ENTRIES = [
    ManifestEntry(name, len(content), hashlib.sha256(content).hexdigest())
    for name, content in sorted(FILES.items())
]


def write(folder, files=FILES):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def files(folder):
    """What DVC counts of a folder."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in found if path.relative_to(folder).parts[0] != OWN)


def held(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files(folder)}


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder; ``faults`` says how often which fault comes first, by file."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.faults = {}
        self.asked = []
        self.lock = threading.Lock()


class Handler(http.server.SimpleHTTPRequestHandler):
    disable_nagle_algorithm = True

    def __init__(self, request, address, server):
        super().__init__(request, address, server, directory=server.folder)

    def do_GET(self):
        name = self.translate_path(self.path).removeprefix(f"{self.server.folder}/")
        with self.server.lock:
            self.server.asked.append(name)
            fault, left = self.server.faults.get(name, (None, 0))
            self.server.faults[name] = (fault, left - 1)
        content = FILES.get(name, b"")
        if fault is None or left <= 0:
            super().do_GET()
        elif isinstance(fault, int):
            self.send_error(fault)
        elif fault == "silence":
            # Until the other side has gone away.
            self.connection.recv(1)
            self.close_connection = True
        else:
            # "cut" promises all and sends half; "short" promises no length at all.
            self.send_response(200)
            if fault == "cut":
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(b"x" * 10**6 if fault == "endless" else content[: len(content) // 2])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    with Server(write(tmp_path / "served")) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def mirror(server):
    return Mirror(f"http://127.0.0.1:{server.server_port}/", attempts=2, timeout=20)


def test_a_directory_and_a_server_give_the_same_folder(tmp_path, server, mirror):
    steps = []
    fetch(Mirror(str(server.folder)), tmp_path / "one", ENTRIES, lambda: steps.append(1))
    fetch(mirror, tmp_path / "two", ENTRIES)
    assert held(tmp_path / "one") == held(tmp_path / "two") == FILES
    assert len(steps) == len(FILES)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "one").glob("*/*")} == {0o644}
    assert missing_entries(tmp_path / "one", ENTRIES) == []


def test_what_is_there_and_right_is_not_asked_for_again(tmp_path, server, mirror):
    wrong, absent, *right = FILES
    write(tmp_path / "data", {name: FILES[name] for name in right} | {wrong: b"altered"})
    # As a fetch leaves it that was killed.
    write(tmp_path / "data/.fetch/fetch-old", {absent: b"half"})
    fetch(mirror, tmp_path / "data", ENTRIES)
    assert held(tmp_path / "data") == FILES
    assert sorted(server.asked) == sorted([wrong, absent])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "served"]
    assert [path.name for path in (tmp_path / "data/.fetch").iterdir()] == ["lock"]


def test_wrong_bytes_are_refused_by_name_and_all_else_is_fetched(tmp_path):
    first, second, *_ = FILES
    place = write(tmp_path / "mirror", FILES | {first: FILES[first][:-1] + b"?"})
    (place / second).unlink()
    with pytest.raises(FileError, match="2 files refused") as refused:
        fetch(Mirror(str(place)), tmp_path / "data", ENTRIES)
    assert f"{first} (wrong bytes)" in str(refused.value)
    assert f"{second} (not there)" in str(refused.value)
    rest = {name: content for name, content in FILES.items() if name not in (first, second)}
    assert held(tmp_path / "data") == rest
    assert [path.name for path in tmp_path.glob("data/.fetch/fetch-*")] == []


@pytest.mark.parametrize("fault", ["cut", "short", "silence", 429, 503])
def test_what_does_not_arrive_is_tried_again(tmp_path, server, mirror, fault):
    if fault == "silence":
        # As short as a busy machine's answer to the second attempt allows.
        mirror = replace(mirror, timeout=3)
    name = list(FILES)[-1]
    server.faults[name] = (fault, 1)
    fetch(mirror, tmp_path / "data", ENTRIES)
    assert held(tmp_path / "data") == FILES
    assert server.asked.count(name) == 2


@pytest.mark.parametrize(
    ("fault", "reason"), [("endless", "wrong bytes"), (404, "HTTP status 404")]
)
def test_what_will_never_be_right_is_asked_for_once(tmp_path, server, mirror, fault, reason):
    name = list(FILES)[-1]
    server.faults[name] = (fault, 9)
    with pytest.raises(FileError, match="1 file refused") as refused:
        fetch(mirror, tmp_path / "data", ENTRIES)
    assert f"{name} ({reason})" in str(refused.value)
    assert server.asked.count(name) == 1
    assert len(held(tmp_path / "data")) == len(FILES) - 1


def test_a_mirror_that_stays_away_ends_the_fetch_and_the_next_goes_on(tmp_path, server, mirror):
    name = list(FILES)[-1]
    server.faults[name] = ("cut", 2)
    with pytest.raises(RunFailed, match="did not arrive in 2 attempts"):
        fetch(mirror, tmp_path / "data", ENTRIES)
    assert name not in held(tmp_path / "data")
    fetch(mirror, tmp_path / "data", ENTRIES)
    assert held(tmp_path / "data") == FILES


def test_a_file_of_ones_own_is_pointed_out_and_nothing_is_touched(tmp_path):
    folder = write(tmp_path / "data", {"set0/notes.txt": b"mine"})
    with pytest.raises(FileError, match=r"1 file not of the public sets.*set0/notes.txt"):
        fetch(Mirror(str(write(tmp_path / "mirror"))), folder, ENTRIES)
    assert held(folder) == {"set0/notes.txt": b"mine"}


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
@pytest.mark.parametrize("option", ["rw", "ro"])
def test_a_folder_may_be_a_disk_of_its_own_but_must_be_writable(tmp_path, option):
    place, folder = Mirror(str(write(tmp_path / "mirror"))), tmp_path / "data"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size=1m,{option}", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("this machine mounts no disk")
    try:
        if option == "ro":
            with pytest.raises(FileError, match=f"Cannot write to the folder {folder}: Read-only"):
                fetch(place, folder, ENTRIES)
        else:
            fetch(place, folder, ENTRIES)
            assert held(folder) == FILES
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_several_may_fetch_into_one_folder(tmp_path, server, mirror):
    threads = [
        threading.Thread(target=fetch, args=(mirror, tmp_path / "data", ENTRIES)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held(tmp_path / "data") == FILES
    assert sorted(server.asked) == sorted(FILES)


def call(*arguments, cwd, check=True, cold=False):
    return commands.call("fetch", *arguments, cwd=cwd, check=check, cold=cold)


def test_the_command_says_what_is_missing_and_makes_nothing(tmp_path):
    for arguments, word in (
        ((), "data lacks 1412 of 1412 files"),
        (("mirror=nowhere",), "Expected mirror to be a directory or http"),
        (("mirror=.", "connections=0"), "connections"),
    ):
        done = call(*arguments, cwd=tmp_path, check=False, cold=not arguments)
        assert done.returncode == 2, done.stderr
        assert word in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert list(tmp_path.iterdir()) == []


def test_the_manifest_names_no_file_twice_and_none_outside():
    entries = read_manifest()
    names = {entry.path for entry in entries}
    assert len(names) == len(entries) == 1412
    assert not any(name.startswith(("/", ".")) or ".." in Path(name).parts for name in names)


@pytest.mark.public
def test_the_public_sets_are_what_the_manifest_and_dvc_say(tmp_path, public):
    said = call(f"mirror={public}", cwd=tmp_path).stdout
    assert said == "data: 1412 files, 32.6 MiB, every hash is right.\n"
    pinned = (Path(__file__).parent.parent / "data.dvc").read_text()
    assert f"md5: {directory_hash(tmp_path / 'data')}.dir\n" in pinned


def directory_hash(folder):
    """DVC's: the MD5 of the sorted list of paths with their MD5."""
    listed = [
        f'{{"md5": "{hashlib.md5(path.read_bytes()).hexdigest()}", "relpath": "{name}"}}'
        for name, path in sorted(
            (path.relative_to(folder).as_posix(), path) for path in files(folder)
        )
    ]
    return hashlib.md5(f"[{', '.join(listed)}]".encode()).hexdigest()
