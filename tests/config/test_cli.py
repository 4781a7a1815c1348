"""A command, as a user meets it: a process with a command line, an exit status and two streams."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run, start
from specahd.config.cli import _CommandState
from specahd.config.process import ScreenHandler

COMMAND = """
import resource
import sys
import warnings
from pathlib import Path
from specahd.config.cli import run_command, run_directory
from specahd.core.errors import FileError, FileWarning

def task(config):
    match config.pools.dir:
        case "refuse":
            raise FileError("The pool is torn.")
        case "lines":
            raise FileError("line\\n" * 20)
        case "write":
            (run_directory() / "journal.jsonl").write_text("{}")
            raise FileError("The disk is full.")
        case "memory":
            bytearray(1 << 62)
        case "files":
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
            open("/dev/null")
        case "interrupt":
            raise KeyboardInterrupt
        case "caused":
            raise FileError("The class fails.") from KeyError("of the class")
        case "bug":
            config.no_such_key
        case "doubt":
            warnings.warn("x.txt: it may be torn.", FileWarning)
        case "even":
            if config.seed % 2:
                raise FileError("Odd.")
    (run_directory() / "done").write_text(str(config.seed))

def check(config):
    if config.pools.dir == "checked":
        raise FileError("No such pool.")

sys.exit(run_command(task, "train", check=check))
"""


def enter(folder: Path, *arguments: str, module: str = COMMAND, **more: str):
    """Run a module that makes a command, with further variables of its environment."""
    (folder.parent / "entered.py").write_text(module)
    beside = {"PYTHONPATH": str(folder.parent), **more}
    return run("entered", "tracking=none", *arguments, cwd=folder, env=beside)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "here"
    path.mkdir()
    return path


@pytest.mark.parametrize(
    "words", [["report", "runs="], ["solve", "samples/cvrp.vrp", "checkpoint="]]
)
def test_an_overlong_path_gets_one_sentence(folder, words):
    *words, last = words
    ended = run("specahd", *words, last + "x" * 5000, cwd=folder)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()[-1]) < 350
    assert "Traceback" not in ended.stderr


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("place", [[], ["hydra.run.dir=a/b/c"]])
def test_a_refusal_is_one_line_and_leaves_nothing(folder, place):
    done = enter(folder, "pools.dir=refuse", *place)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "The pool is torn.\n")
    assert files(folder) == []


def test_a_doubt_is_one_line_and_the_task_goes_on(folder):
    done = enter(folder, "pools.dir=doubt", "hydra.run.dir=run")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "x.txt: it may be torn.\n")
    # Nothing is written but what the task writes.
    assert files(folder) == ["run", "run/done"]


def test_a_long_refusal_is_cut_to_six_lines(folder):
    assert len(enter(folder, "pools.dir=lines").stderr.splitlines()) == 6


def test_the_users_own_empty_directory_stays(folder):
    (folder / "mine" / "too").mkdir(parents=True)
    assert enter(folder, "pools.dir=refuse", "hydra.run.dir=mine").returncode == 2
    assert files(folder) == ["mine", "mine/too"]


def test_what_a_refused_run_wrote_stays(folder):
    done = enter(folder, "pools.dir=write", "hydra.run.dir=r")
    assert (done.returncode, done.stderr) == (2, "The disk is full.\n")
    assert files(folder) == ["r", "r/journal.jsonl"]


def test_sweep_in_the_words_of_the_readme(folder):
    done = enter(folder, "problem=cvrp", "llm=offline", "-m", "seed=0,1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    made = sorted(path.parent.name for path in folder.rglob("done"))
    assert made == ["cvrp-0-seed0", "cvrp-1-seed1"]


def test_want_of_memory_is_one_line_and_status_1(folder):
    done = enter(folder, "pools.dir=memory")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("There is no memory left")
    assert files(folder) == []


def test_too_many_open_files_are_one_line_and_status_1(folder):
    done = enter(folder, "pools.dir=files")
    assert (done.returncode, done.stderr) == (
        1, "Too many files are open: allow more (ulimit -n).\n",
    )  # fmt: skip


def test_a_sweep_keeps_the_jobs_that_ended_before_a_refusal(folder):
    done = enter(folder, "pools.dir=even", "-m", "seed=0,1", "hydra.sweep.dir=s")
    assert done.returncode == 2
    # Hydra itself names the job.
    assert done.stderr.splitlines()[1:] == [
        "Jobs of the sweep that failed: 1 of 2.",
        "s/cvrp-1-seed1: Odd.",
    ]
    assert files(folder) == ["s", "s/cvrp-0-seed0", "s/cvrp-0-seed0/done", "s/multirun.yaml"]


PAIR = "hydra.launcher.n_jobs=2"
"""Where one core is visible, joblib would else stay in this process."""


def test_a_bug_in_another_process_shows_its_own_traceback(folder):
    done = enter(folder, "pools.dir=bug", "-m", "seed=0,1", "hydra/launcher=joblib", PAIR)
    assert done.returncode == 1
    assert "_Broken" in done.stderr
    assert "no_such_key" in done.stderr
    assert ", in task" in done.stderr


def test_an_option_of_a_sweep_may_refer_to_its_job_and_of_two_the_last_counts(folder):
    record = "record='${hydra:runtime.output_dir}/${hydra:job.num}.jsonl'"
    twice = ["executor.workers=65", "executor.workers=1,2"]
    done = enter(folder, "-m", "seed=range(0,1)", record, *twice, "hydra.sweep.dir=s")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((folder / "s").glob("*/done"))) == 2


def test_an_interrupt_is_one_line_and_status_130(folder):
    done = enter(folder, "pools.dir=interrupt")
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")
    assert files(folder) == []


def test_what_a_command_refuses_is_refused_once_before_a_sweep_begins(folder):
    done = enter(folder, "-m", "seed=0,1", "pools.dir=checked", "hydra/launcher=joblib", PAIR)
    assert (done.returncode, done.stderr) == (2, "No such pool.\n")
    assert files(folder) == []


def test_a_traceback_of_what_is_not_ours_is_shown_where_it_is_asked_for(folder):
    assert enter(folder, "pools.dir=caused").stderr == "The class fails.\n"
    done = enter(folder, "pools.dir=caused", HYDRA_FULL_ERROR="1")
    assert done.returncode == 2
    assert "KeyError: 'of the class'" in done.stderr
    assert done.stderr.endswith("\nThe class fails.\n")


# The first module that specahd imports from elsewhere in every command.
PRESSED_IN_AN_IMPORT = """
import os, signal, sys

class Presser:
    def find_spec(self, name, path=None, target=None):
        if name == "yaml":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Presser())
"""


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "specahd"],
        ["-m", "specahd.train", "tracking=none"],
        [str(Path(sys.executable).with_name("specahd")), "solve", "nothing.vrp"],
    ],
)
def test_ctrl_c_while_a_command_is_imported_ends_it_with_one_line(tmp_path, words):
    (tmp_path / "sitecustomize.py").write_text(PRESSED_IN_AN_IMPORT)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("", "Interrupted; nothing was written.\n")
    assert done.returncode == 130


NOTHING = "Interrupted; nothing was written."
SWALLOWING = """
import os, signal, sys
from pathlib import Path
from specahd.config.cli import run_command
from specahd.config.process import exit_on_interrupt

signal.signal(signal.SIGINT, signal.SIG_DFL)

def press():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.stderr.write("Swallowed.\\n")

def rewrite(words):
    if "seed=1" in words:
        press()
    return words

def task(config):
    if config.seed == 2:
        with exit_on_interrupt():
            press()
    press()
    Path("done").write_text("")

sys.exit(run_command(task, "train", rewrite=rewrite))
"""


@pytest.mark.parametrize(
    ("seed", "status", "said"),
    [(1, 130, NOTHING), (2, 130, NOTHING), (3, 0, "Swallowed.")],
)
def test_no_library_swallows_ctrl_c_before_there_is_anything_to_keep(folder, seed, status, said):
    done = enter(folder, f"seed={seed}", module=SWALLOWING)
    assert (done.returncode, done.stderr) == (status, f"{said}\n")
    assert [path for path in files(folder) if status] == []


def test_a_bug_shows_its_traceback(folder):
    done = enter(folder, "pools.dir=bug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "no_such_key" in done.stderr


def test_the_configuration_is_shown(folder):
    done = enter(folder, "--cfg=job")
    assert done.returncode == 0
    assert "seed" in done.stdout
    assert files(folder) == []


STREAMS = """
import os, sys
from pathlib import Path
from specahd.config.cli import run_command
from specahd.sandbox.client import inspect_host

def task(config):
    sys.stdout.write("told")
    sys.stderr.write("warned")
    assert inspect_host()
    # Whatever is open by now has another number.
    null = os.stat(os.devnull)
    closed = [int(digit) for digit in config.pools.dir]
    assert all(os.path.samestat(os.fstat(number), null) for number in closed)
    assert sys.stdin.read() == ""
    Path("done").write_text("")

sys.exit(run_command(task, "train"))
"""


def test_streams_that_are_closed_lead_nowhere(tmp_path):
    started = {}
    for closed in ("02", "1", "012"):
        folder = tmp_path / closed
        folder.mkdir()
        shut = " ".join(f"{number}>&-" for number in closed)
        options = f"tracking=none hydra.run.dir=. pools.dir=\"'{closed}'\""
        line = f'"{sys.executable}" -c "$0" {options} {shut}'
        started[closed] = subprocess.Popen(
            ["sh", "-c", line, STREAMS],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    for closed, process in started.items():
        told, warned = process.communicate(timeout=120)
        assert process.returncode == 0, (closed, warned)
        assert files(tmp_path / closed) == ["done"]
        assert (told, warned) == (
            "" if "1" in closed else "told",
            "" if "2" in closed else "warned",
        )


def test_a_folder_that_a_job_removes_meanwhile_is_passed_over(tmp_path, monkeypatch):
    sweep, job = tmp_path / "sweep", tmp_path / "sweep" / "job"
    (sweep / "other").mkdir(parents=True)
    job.mkdir()
    scandir = os.scandir

    def removed_first(folder):
        if Path(folder) == job:
            job.rmdir()
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", removed_first)
    _CommandState(missing=[sweep]).clear()
    assert not sweep.exists()


@pytest.mark.parametrize(("kind", "words"), [("run", []), ("sweep", ["-m", "seed=0"])])
def test_commands_at_one_time_get_a_folder_each(folder: Path, kind: str, words: list[str]) -> None:
    # All of them in a second, the length of which a year is.
    beside = {"PYTHONPATH": str(folder.parent)}
    (folder.parent / "entered.py").write_text(COMMAND)
    options = ["tracking=none", rf"hydra.{kind}.dir='in $d/it\'s ${{now:%Y}}'", *words]
    started = [start("entered", *options, cwd=folder, env=beside) for _ in range(3)]
    for command in started:
        assert command.communicate(timeout=60)[1] == ""
        assert command.returncode == 0
    made = sorted((folder / "in $d").iterdir())
    assert [path.name[9:] for path in made] == ["", "-2", "-3"]
    for path in made:
        assert [each.read_text() for each in path.rglob("done")] == ["0"]


def test_a_warning_reaches_the_screen_and_its_repetitions_only_the_log(capsys):
    log = logging.Logger("specahd.tested")
    log.addHandler(ScreenHandler())
    for number in range(3):
        log.warning("%s: attempt %d follows.", "host", number)
    log.warning("The host counts no tokens.")
    shown = capsys.readouterr().err
    assert shown == "host: attempt 0 follows.\nThe host counts no tokens.\n"
