"""The entry point of every command: starts Hydra, and reports a user error in one sentence."""

import errno
import functools
import json
import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf, flag_override
from omegaconf.errors import OmegaConfBaseException

from specahd import INTERRUPTED, __version__
from specahd.config import CONF_DIR
from specahd.config.files import OWN_FOLDERS, search_folders
from specahd.config.help import help_text
from specahd.config.messages import REFUSALS, check_flags, message_for, simpler_error
from specahd.config.process import (
    handle_interrupts,
    open_closed_streams,
    raise_interrupts,
    short_warnings,
)
from specahd.config.schemas import register_schemas, validate
from specahd.config.sweeps import check_jobs
from specahd.config.words import INPUTS, quote
from specahd.core.display import visible
from specahd.core.errors import FileError, RunFailed, TransportError, UserError
from specahd.core.extras import require
from specahd.core.folders import display_path, make_new_folder, write_atomically
from specahd.core.plain import parse_yaml
from specahd.core.services import STORE_VARIABLE
from specahd.routing.formats.text import digest
from specahd.runs.configuration import SEARCHPATH, RunConfiguration
from specahd.runs.files import CONFIG
from specahd.sandbox.confinement import die_with_parent

Task = Callable[[DictConfig], object]

FAILED = 1
REFUSED = 2
_LINES = 6
_FAILURES = ".failures.jsonl"
_NOW = "${now:"
"""The part of a folder's name that stands for the time."""


def run_command(
    task: Task,
    config_name: str,
    argv: Sequence[str] | None = None,
    rewrite: Callable[[Sequence[str]], Sequence[str]] = list,
    check: Task = lambda config: None,
    extra: str | None = None,
) -> int:
    """Compose the configuration and run the task: once, or once per job of a sweep.

    An error that the user can correct is printed as one sentence on standard error, and
    empty directories are removed. Any other exception is a bug and propagates.

    Parameters
    ----------
    task
        Does the command's work, with the composed and validated configuration. In a sweep, what
        it returns is the value of the job.
    config_name
        The primary configuration in ``conf/``: ``train``, ``evaluate`` …
    argv
        The command line after the program's name. None: that of the process.
    rewrite
        Replaces words of the command line before Hydra reads it, or its help is printed.
    check
        Refuses an invalid configuration before any work; in a sweep, before the first job.
    extra
        Name of the package's extra that must be installed, if any.

    Returns
    -------
    int
        The exit status: 0, or 1 if a run failed, 2 if it was refused, 130 if interrupted.
    """
    open_closed_streams()
    words = sys.argv[1:] if argv is None else argv
    if "--version" in words:
        sys.stdout.write(f"specahd {__version__}\n")
        return 0
    register_schemas()
    state = _CommandState(check, traced=os.environ.get("HYDRA_FULL_ERROR") == "1")
    entry = hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name=config_name)
    token, folders = _STATE.set(state), OWN_FOLDERS.set(())
    rewritten = words
    try:
        check_flags(config_name, words)
        helping = "--help" in words or "-h" in words
        if extra is not None and not helping:
            require(extra, f"specahd {config_name}")
        with handle_interrupts(state.clear), short_warnings():
            rewritten = rewrite(words)
            if helping:
                sys.stdout.write(help_text(config_name, rewritten))
                return 0
            with _command_line(rewritten):
                try:
                    entry(_end_gracefully(task, state))()
                except BaseException:
                    state.end_sweep()
                    raise
    except (_Refused, _Ended) as end:
        return _report_end(state, *end.args)
    except BrokenProcessPool:
        return _report_end(
            state, "A job of the sweep was killed, perhaps for want of memory.", FAILED
        )
    except UserError as error:
        return _report_end(state, str(error), REFUSED)
    except REFUSALS as error:
        if state.started:
            raise
        message = message_for(simpler_error(error, config_name, rewritten), config_name, words)
        return _report_end(state, message, REFUSED)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            reason = f"Expected a path that the system takes, got {str(error.filename)[:60]!r}"
            return _report_end(state, f"{reason} and more: {error.strerror}.", REFUSED)
        if state.started:
            raise
        reason = f"Cannot make the directory {state.directory}: {error.strerror}."
        return _report_end(state, reason, REFUSED)
    except KeyboardInterrupt as interrupt:
        return _report_end(state, str(interrupt) or "Interrupted.", INTERRUPTED)
    finally:
        _STATE.reset(token)
        OWN_FOLDERS.reset(folders)
    return 0


def run_directory() -> Path:
    """Return the absolute directory of the running job."""
    return Path(HydraConfig.get().runtime.output_dir)


@contextmanager
def resumable() -> Iterator[None]:
    """Tell how the command goes on if Ctrl-C ends the block, whose results are kept."""
    try:
        yield
    except KeyboardInterrupt:
        where = display_path(run_directory())
        raise KeyboardInterrupt(
            f"Interrupted; go on: the same command and hydra.run.dir={where}"
        ) from None


def resolve_config(config: DictConfig) -> dict[str, Any]:
    """Return the configuration as plain values, with the chosen groups under ``choices``.

    It holds no secret: configurations name environment variables, not their values. So does the
    address of the MLflow store, if it is that of a variable, as it may contain a password.
    """
    plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a mapping at the top
    tracking = config.get("tracking")
    if STORE_VARIABLE in os.environ and tracking and OmegaConf.is_interpolation(tracking, "uri"):
        raw: dict[str, Any] = OmegaConf.to_container(tracking, resolve=False)  # type: ignore[assignment]  # a group
        plain["tracking"]["uri"] = raw["uri"]
    if HydraConfig.initialized():
        chosen = HydraConfig.get().runtime.choices.items()
        plain["choices"] = {
            group: choice for group, choice in chosen if group.partition("/")[0] != "hydra"
        }
        if words := searchpath_words():
            option, _, folders = words[0].partition("=")
            plain["choices"][option] = folders
    return plain


def result_inputs(config: DictConfig) -> dict[str, Any]:
    """Return the inputs that determine a result: the options, and hashes of the files."""
    options = resolve_config(config)
    options.pop("choices", None)
    files = {path: digest(Path(path)) for name in INPUTS if (path := config[name]) is not None}
    return {"specahd": __version__, "options": options, "sha256": files}


def searchpath_words(given: Iterable[str] | None = None) -> list[str]:
    """Return the folders of the user's own files as a word of the command line, if any.

    Parameters
    ----------
    given
        The folders; None: those of the running command.
    """
    folders = [
        f"file://{Path(folder.removeprefix('file://')).absolute()}"
        if "pkg://" not in folder
        else folder
        for folder in (HydraConfig.get().searchpath if given is None else given)
    ]
    listed = ",".join(quote(folder) for folder in folders)
    return [f"{SEARCHPATH}=[{listed}]"] if folders else []


def remembered_folders(checkpoint: Path) -> list[str]:
    """Return the folders of the user's own files that the run of a checkpoint was given.

    Parameters
    ----------
    checkpoint
        The directory of the run, or its ``checkpoint/``.
    """
    for directory in (checkpoint, checkpoint.parent):
        if (directory / CONFIG).is_file():
            with suppress(FileError, ValueError):
                listed = RunConfiguration.read(directory).choices.get(SEARCHPATH)
                folders: list[str] = parse_yaml((listed or "[]").encode(), list[str])
                return folders
    return []


def with_folders(arguments: Sequence[str]) -> list[str]:
    """Add the folders that the run of a checkpoint remembers to a command line that names none."""
    if any(word.startswith(f"{SEARCHPATH}=") for word in arguments):
        return list(arguments)
    given = [word.partition("=")[2] for word in arguments if word.startswith("checkpoint=")]
    # In a sweep commas separate checkpoints.
    places = [place.strip("'\"") for value in given for place in [value, *value.split(",")]]
    folders = [folder for place in places for folder in remembered_folders(Path(place))]
    return [*arguments, *searchpath_words(dict.fromkeys(folders))]


def save_config(config: DictConfig, directory: Path) -> Path:
    """Write the resolved configuration to ``config.yaml`` in the directory."""
    path = directory / CONFIG
    write_atomically(path, OmegaConf.to_yaml(OmegaConf.create(resolve_config(config))))
    return path


class CommandCallback(Callback):
    """Hydra callback that records a run's or sweep's directory, and checks a sweep's jobs.

    ``conf/hydra/default.yaml`` registers it.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        _STATE.get().note(config, "run")

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        _STATE.get().note(config, "sweep")
        # Hydra would turn an Exception into a warning, but not _Refused.
        try:
            _STATE.get().jobs = check_jobs(config, _STATE.get().check)
        except UserError as error:
            _STATE.get().trace(error)
            raise _Refused(str(error), REFUSED) from None
        except REFUSALS as error:
            words = config.hydra.overrides.task
            message = message_for(error, config.hydra.job.config_name, words)
            raise _Refused(message, REFUSED) from None
        raise_interrupts()
        _STATE.get().begin_sweep(config)


@dataclass
class _CommandState:
    """The state of one command: whether its task began, and which folders it made.

    Parameters
    ----------
    check
        Refuses a job before it starts.
    traced
        Whether to print tracebacks of code outside this package.
    """

    check: Task = lambda config: None
    traced: bool = False
    started: bool = False
    directory: Path | None = None
    # The directory and those of its ancestors that did not exist, the innermost first.
    missing: list[Path] = field(default_factory=list)
    # The configuration of a sweep whose jobs have started.
    sweep: DictConfig | None = None
    # The number of its jobs, and the file in which those that fail say why, in any process.
    jobs: int | None = None
    failures: Path | None = None

    def trace(self, error: UserError) -> None:
        """Print the traceback of an error in code outside this package, if ``traced``."""
        if self.traced and error.__cause__ is not None:
            traceback.print_exception(error)

    def note(self, config: DictConfig, kind: str) -> None:
        """Record the directory of a ``run`` or ``sweep``; create it if its name has the time."""
        key = f"hydra.{kind}.dir"
        # Hydra itself refuses a missing or unusable directory later.
        with suppress(OmegaConfBaseException, OSError):
            requested = Path(str(OmegaConf.select(config, key)))
            self.directory = requested.absolute()
            folders = (self.directory, *self.directory.parents)
            self.missing = [folder for folder in folders if not folder.exists()]
            if _NOW in str(OmegaConf.to_container(config.hydra[kind], resolve=False)["dir"]):  # type: ignore[call-overload,index]  # a mapping
                # Two commands that start in one second get different folders.
                created = make_new_folder(requested)
                above = [folder for folder in self.missing if folder != self.directory]
                self.directory, self.missing = created.absolute(), [created.absolute(), *above]
                with flag_override(config, "readonly", False):
                    config.hydra[kind].dir = str(created)
                    # Hydra composes the configuration of every job from these overrides.
                    config.hydra.overrides.hydra.append(f"{key}={quote(str(created))}")

    def begin_sweep(self, config: DictConfig) -> None:
        """Record that the jobs of a sweep start."""
        self.sweep = config
        if self.directory is not None:
            self.failures = self.directory / _FAILURES
            self.failures.unlink(missing_ok=True)

    def note_failure(self, message: str, status: int) -> None:
        """Record why a job of the sweep failed, for the end of the sweep."""
        if self.failures is not None:
            where = display_path(run_directory())
            with suppress(OSError), self.failures.open("a", encoding="utf-8") as file:
                [sentence, *_] = message.splitlines()
                file.write(json.dumps([status, f"{where}: {sentence}"]) + "\n")

    def take_failures(self) -> tuple[int, list[str]]:
        """Return the exit status of a sweep and the sentences of its failed jobs."""
        if self.failures is None or not self.failures.exists():
            return 0, []
        found = [json.loads(line) for line in self.failures.read_text("utf-8").splitlines()]
        self.failures.unlink()
        count = len(found) if self.jobs is None else f"{len(found)} of {self.jobs}"
        lines = [f"Jobs of the sweep that failed: {count}.", *(line for _, line in found)]
        return min(status for status, _ in found), lines

    def end_sweep(self) -> None:
        """Call Hydra's end callbacks after an interrupted sweep; Hydra itself does not."""
        if self.sweep is not None:
            for callback in self.sweep.hydra.callbacks.values():
                instantiate(callback).on_multirun_end(config=self.sweep)

    def clear(self) -> None:
        """Remove the empty folders that this command created."""
        if not self.missing:
            return
        # Bottom-up; other jobs that are ending may remove folders at the same time.
        walked = list(os.walk(self.missing[0], topdown=False))
        if [name for _, _, files in walked for name in files] == ["multirun.yaml"]:
            (self.missing[0] / "multirun.yaml").unlink(missing_ok=True)
        for path in (*(Path(folder) for folder, _, _ in walked), *self.missing):
            # rmdir raises OSError for files and for non-empty folders.
            with suppress(OSError):
                path.rmdir()


class _Refused(BaseException):
    """The error message and exit status that a run, or a sweep's check, passes to the command.

    It is not an Exception, so that Hydra does not report it.
    """


class _Ended(Exception):
    """The same message and status, from a job of a sweep.

    It is an Exception, so that the other jobs run; Hydra re-raises it when they have ended.
    """


class _Broken(Exception):
    """A bug in another process; the message contains the traceback, which pickling drops."""


_STATE: ContextVar[_CommandState] = ContextVar("command")


def _end_gracefully(task: Task, state: _CommandState) -> Task:
    main_process = os.getpid()

    @functools.wraps(task)
    def run(config: DictConfig) -> object:
        state.started = True
        in_worker = os.getpid() != main_process
        if multiprocessing.parent_process() is not None:
            # Otherwise a worker of joblib would outlive its parent.
            die_with_parent(main_process)
        search_folders(HydraConfig.get().searchpath)
        try:
            validate(config)
            raise_interrupts()
            return task(config)
        except Exception as error:
            if isinstance(error, UserError):
                state.trace(error)
            end = _exit_message(error)
            if end is not None:
                if state.sweep is not None:
                    state.note_failure(*end)
                raise (_Refused if state.sweep is None else _Ended)(*end) from None
            if in_worker:
                raise _Broken(f"\n{traceback.format_exc()}") from None
            raise

    return run


def _exit_message(error: Exception) -> tuple[str, int] | None:
    """Return the message and the exit status of an error; None if the error is a bug."""
    match error:
        case UserError():
            return str(error), REFUSED
        case RunFailed() | TransportError():
            return str(error), FAILED
        case MemoryError() | OSError(errno=errno.ENOMEM):
            return f"There is no memory left: {str(error) or 'Python asked for more'}.", FAILED
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return "Too many files are open: allow more (ulimit -n).", FAILED
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EROFS):
            where = "" if error.filename is None else f" {error.filename}"
            return f"Cannot write{where}: {error.strerror}.", FAILED
    return None


@contextmanager
def _command_line(arguments: Sequence[str]) -> Iterator[None]:
    """Set Hydra's command line, and let Hydra re-raise errors instead of printing them."""
    # Hydra 1.3 refuses overrides on both sides of -m: `llm=offline -m seed=0,1`.
    ordered = sorted(arguments, key=lambda word: word not in ("-m", "--multirun"))
    # A resumed run keeps its directory.
    ordered += [
        f"hydra.run.dir={word.partition('=')[2]}" for word in ordered if word.startswith("resume=")
    ]
    argv, full_error = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = [argv[0], *ordered]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv = argv
        if full_error is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = full_error


def _report_end(state: _CommandState, message: str, status: int) -> int:
    failed, lines = state.take_failures()
    state.clear()
    said = visible(message, keep="\n").split("\n")[:_LINES]
    if failed:
        status = status if status == INTERRUPTED else min(status, failed)
    if not any(line.endswith(said[0]) for line in lines):
        lines += said
    if state.sweep and state.directory and any(state.directory.glob(f"*/{CONFIG}")):
        where = display_path(state.directory)
        lines.append(f"Go on with the sweep: the same command and hydra.sweep.dir={where}")
    sys.stderr.write("\n".join(lines) + "\n")
    return status
