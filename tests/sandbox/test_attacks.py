"""The second wall alone: no guard, and nothing that a program does has any effect."""

import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest
from attacks_files import MARK
from attacks_system import ATTACKS
from program_pair import HERE
from reduced_host import CALLS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel's wall is Linux's"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="deeds use its system calls"),
]

ROOT = os.geteuid() == 0
PLAIN = 65533
"""A user that owns nothing. It differs from the one that a sandbox of root becomes."""
# A plain user cannot read an interpreter below /root: it may read and search anything,
# and nothing more, until the sandbox takes that away from its programs.
AS_PLAIN = [
    "setpriv",
    f"--reuid={PLAIN}",
    f"--regid={PLAIN}",
    "--clear-groups",
    "--inh-caps=-all,+dac_read_search",
    "--ambient-caps=+dac_read_search",
    "--bounding-set=-all,+dac_read_search",
]


class Host:
    """A process, of some user, that owns a sandbox."""

    def __init__(self, launcher, journal):
        self.journal = journal
        self.process = subprocess.Popen(
            [*launcher, sys.executable, "-P", str(Path(HERE) / "attack_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": HERE,
                "PYTHONDONTWRITEBYTECODE": "1",
                "API_KEY": "secret",
            },
            text=True,
        )

    def attempt(self, name):
        self.process.stdin.write(json.dumps([name, str(self.journal)]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=20)


@contextlib.contextmanager
def host_of(launcher):
    """Start a host beside a journal that is not its programs' business; nothing may remain."""
    # Open to everyone, so that it is not the file's mode that keeps programs out.
    folder = Path(tempfile.mkdtemp(prefix="specahd-run-"))
    folder.chmod(0o777)
    journal = folder / "journal.jsonl"
    journal.write_text("{}\n")
    journal.chmod(0o666)
    before = segments()
    host = Host(launcher, journal)
    yield host
    assert host.close() == 0
    assert traces(folder) == []
    assert segments() <= before
    assert journal.read_text() == "{}\n"
    assert journal.stat().st_mode & 0o777 == 0o666
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["root", "plain"])
def host(request):
    if request.param == "root" and not ROOT:
        pytest.skip("the tests run as a plain user")
    if request.param == "plain" and ROOT and shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv to become a plain user with")
    with host_of(AS_PLAIN if request.param == "plain" and ROOT else []) as host:
        yield host


def traces(folder):
    """Return what the attacks left behind: files and processes."""
    files = [path for path in folder.iterdir() if path.name != "journal.jsonl"]
    for place in ("/tmp", "/dev/shm", "/"):
        files += Path(place).glob(f"*{MARK}*")
    commands = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    return [*files, *(line for line in commands if any(MARK in word for word in line))]


def segments():
    """Return the ids of the segments of shared memory that a sandboxed user owns here."""
    header, *rows = Path("/proc/sysvipc/shm").read_text().splitlines()
    rows = [dict(zip(header.split(), row.split(), strict=True)) for row in rows]
    return {row["shmid"] for row in rows if row["uid"] in (str(PLAIN), "65534")}


DEATHS = {"leave", "abort", "read_address_zero", "tear_a_frame_and_die"}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_has_its_one_outcome_and_no_effect(host, name):
    expected = ATTACKS[name]
    report = host.attempt(name)
    assert report["outcome"] == expected.outcome.value, report
    assert expected.detail in report["detail"], report
    # Its own process, if it lives, a program can spoil; that costs one call more.
    assert report["same"] == "ok" or report["outcome"] == "ok"
    assert report["after"] == ["ok", "ok"]
    assert report["answers"] == [[8], [8]]
    assert report["shared"]
    # Long before the limit, which is 60 s where nothing is waited for; a death is noticed at once.
    assert report["seconds"] < (1.0 if name in DEATHS else 10.0)


def test_the_environment_and_the_descriptors_are_gone(host):
    assert host.attempt("read_the_environment")["output"] == [[0]]
    assert host.attempt("list_descriptors")["output"] == [[0, 1, 2, 3]]


# What the other layers still hold back where some lack; where all do, honest programs run on.
ALONE = {
    "landlock": """append_to_journal become_root execute fork kill_the_zygote make_directory
        open_inet_stream raise_a_limit read_parents_environment trace_the_parent unlink_journal
        write_file""",
    "seccomp": """append_to_journal become_root execute fork kill_the_zygote make_directory mount
        raise_a_limit read_journal read_parents_environment read_passwords trace_the_parent
        unlink_journal write_file""",
    ",".join(CALLS): "recurse",
}


@pytest.mark.parametrize("layers", ALONE)
def test_neither_landlock_nor_seccomp_stands_alone(layers):
    poorer = [sys.executable, str(Path(HERE) / "reduced_host.py"), layers]
    with host_of(poorer) as host:
        for name in ALONE[layers].split():
            report = host.attempt(name)
            assert report["outcome"] == "crashed", (name, report)
            assert "Error" in report["detail"], (name, report)
            assert report["answers"] == [[8], [8]], (name, report)
