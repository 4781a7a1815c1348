"""The one way in: starts Hydra for a command and tells the user in one sentence what to mend."""

import errno
import functools
import multiprocessing
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
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

from specahd import __version__
from specahd.config import CONF_DIR
from specahd.config.help import help_text
from specahd.config.messages import REFUSALS, message_for, plainer
from specahd.config.process import INTERRUPTED, fill_streams, interruptible, raise_interrupts
from specahd.config.schemas import register, validate
from specahd.config.sweeps import check_jobs
from specahd.config.words import quoted
from specahd.core.errors import FileWarning, RunFailed, TransportError, UserError
from specahd.core.extras import require
from specahd.core.folders import display_path, make_new_folder, write_atomically
from specahd.runs.files import CONFIG
from specahd.sandbox.confinement import die_with_parent

Task = Callable[[DictConfig], None]

FAILED = 1
REFUSED = 2
_LINES = 6
_NOW = "${now:"
"""What a name of a folder holds that the time is a part of."""


def run_command(
    task: Task,
    config_name: str,
    argv: Sequence[str] | None = None,
    rewrite: Callable[[Sequence[str]], Sequence[str]] = list,
    check: Task = lambda config: None,
    extra: str | None = None,
) -> int:
    """Compose the configuration and run the task: once, or once per job of a sweep.

    A refusal that the user can mend becomes one sentence on standard error,
    and no empty directory is left behind. Anything else is a bug and propagates.

    Parameters
    ----------
    task
        What the command does with its composed and validated configuration.
    config_name
        The primary configuration in ``conf/``: ``train``, ``evaluate`` …
    argv
        The command line after the program's name; the process's own if None.
    rewrite
        Replaces words of the command line before Hydra sees it.
    check
        Refuses what can be refused before any work; of a sweep, before its first job starts.
    extra
        What has to be installed beside the package itself.

    Returns
    -------
    int
        The exit status: 0, 1 when a run failed, 2 when refused, 130 when interrupted.
    """
    fill_streams()
    words = sys.argv[1:] if argv is None else argv
    if "--version" in words:
        sys.stdout.write(f"specahd {__version__}\n")
        return 0
    register()
    state = _CommandState(check, traced=os.environ.get("HYDRA_FULL_ERROR") == "1")
    entry = hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name=config_name)
    token = _STATE.set(state)
    try:
        if "--help" in words or "-h" in words:
            sys.stdout.write(help_text(config_name, words))
            return 0
        if extra is not None:
            require(extra, f"specahd {config_name}")
        with interruptible(state.clear), _plain_warnings(), _command_line(rewrite(words)):
            try:
                entry(_guarded(task, state))()
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
        message = message_for(plainer(error, config_name, words))
        return _report_end(state, message, REFUSED)
    except OSError as error:
        if state.started:
            raise
        reason = f"Cannot make the directory {state.directory}: {error.strerror}."
        return _report_end(state, reason, REFUSED)
    except KeyboardInterrupt as interrupt:
        return _report_end(state, str(interrupt) or "Interrupted.", INTERRUPTED)
    finally:
        _STATE.reset(token)
    return 0


def run_directory() -> Path:
    """Return the directory of the job that is running, absolute."""
    return Path(HydraConfig.get().runtime.output_dir)


def resolved(config: DictConfig) -> dict[str, Any]:
    """Return the configuration as plain values, the chosen groups under ``choices``.

    It holds no secret: configurations name environment variables, not their values.
    """
    plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a mapping at the top
    if HydraConfig.initialized():
        chosen = HydraConfig.get().runtime.choices.items()
        plain["choices"] = {
            group: choice for group, choice in chosen if group.partition("/")[0] != "hydra"
        }
    return plain


def save_config(config: DictConfig, directory: Path) -> Path:
    """Write the resolved configuration to ``config.yaml`` in the directory."""
    path = directory / CONFIG
    write_atomically(path, OmegaConf.to_yaml(OmegaConf.create(resolved(config))))
    return path


class CommandCallback(Callback):
    """Notes what Hydra is about to do, and refuses a sweep of which one job is refused.

    ``conf/hydra/default.yaml`` asks for it.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        _STATE.get().note(config, "run")

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        _STATE.get().note(config, "sweep")
        # Hydra would turn an Exception into a warning.
        try:
            check_jobs(config, _STATE.get().check)
        except UserError as error:
            _STATE.get().trace(error)
            raise _Refused(str(error), REFUSED) from None
        except REFUSALS as error:
            raise _Refused(message_for(error), REFUSED) from None
        raise_interrupts()
        _STATE.get().sweep = config


@dataclass
class _CommandState:
    """One passage through a command: whether its task began, and which folders are its own.

    Parameters
    ----------
    check
        What refuses a job before it starts.
    traced
        Whether the user asks for tracebacks of what is not ours.
    """

    check: Task = lambda config: None
    traced: bool = False
    started: bool = False
    directory: Path | None = None
    # The directory and its ancestors as far as they were not there before, from the inside.
    missing: list[Path] = field(default_factory=list)
    # The configuration of a sweep whose jobs were begun.
    sweep: DictConfig | None = None

    def trace(self, error: UserError) -> None:
        """Show, if the user asks for it, where the code of somebody else raised something."""
        if self.traced and error.__cause__ is not None:
            traceback.print_exception(error)

    def note(self, config: DictConfig, kind: str) -> None:
        """Note the directory of a ``run`` or a ``sweep``; one that the time names is made, new."""
        key = f"hydra.{kind}.dir"
        # Hydra itself refuses one that has no value, or cannot be made, a moment later.
        with suppress(OmegaConfBaseException, OSError):
            named = Path(str(OmegaConf.select(config, key)))
            self.directory = named.absolute()
            folders = (self.directory, *self.directory.parents)
            self.missing = [folder for folder in folders if not folder.exists()]
            if _NOW in str(OmegaConf.to_container(config.hydra[kind], resolve=False)["dir"]):  # type: ignore[call-overload,index]  # a mapping
                # Of two commands in one second each gets one of its own.
                made = make_new_folder(named)
                above = [folder for folder in self.missing if folder != self.directory]
                self.directory, self.missing = made.absolute(), [made.absolute(), *above]
                with flag_override(config, "readonly", False):
                    config.hydra[kind].dir = str(made)
                    # From its options Hydra composes the configuration of every job.
                    config.hydra.overrides.hydra.append(f"{key}={quoted(str(made))}")

    def end_sweep(self) -> None:
        """Tell Hydra's callbacks that a sweep broke off, of which Hydra tells them nothing."""
        if self.sweep is not None:
            for callback in self.sweep.hydra.callbacks.values():
                instantiate(callback).on_multirun_end(config=self.sweep)

    def clear(self) -> None:
        """Remove the folders that this command made and put nothing in."""
        if not self.missing:
            return
        # From below; what jobs that still end remove meanwhile is passed over.
        walked = list(os.walk(self.missing[0], topdown=False))
        if [name for _, _, files in walked for name in files] == ["multirun.yaml"]:
            (self.missing[0] / "multirun.yaml").unlink(missing_ok=True)
        for path in (*(Path(folder) for folder, _, _ in walked), *self.missing):
            # The system refuses to remove a file so, or a folder that is not empty.
            with suppress(OSError):
                path.rmdir()


class _Refused(BaseException):
    """A job's last sentence and exit status on their way to the command.

    Not an Exception, so that Hydra neither reports it nor starts the sweep's other jobs.
    """


class _Ended(Exception):
    """The same on its way from a parallel launcher's process.

    An Exception, so that jobs beside it go on: Hydra hands it over when they have ended.
    """


class _Broken(Exception):
    """A bug in another process; the message is its traceback, which pickling would lose."""


_STATE: ContextVar[_CommandState] = ContextVar("command")


def _guarded(task: Task, state: _CommandState) -> Task:
    home = os.getpid()

    @functools.wraps(task)
    def run(config: DictConfig) -> None:
        state.started = True
        away = os.getpid() != home
        if multiprocessing.parent_process() is not None:
            # A worker of joblib's would work on for nobody.
            die_with_parent(home)
        try:
            validate(config)
            raise_interrupts()
            task(config)
        except Exception as error:
            if isinstance(error, UserError):
                state.trace(error)
            end = _end(error)
            if end is not None:
                raise (_Ended if away else _Refused)(*end) from None
            if away:
                raise _Broken(f"\n{traceback.format_exc()}") from None
            raise

    return run


def _end(error: Exception) -> tuple[str, int] | None:
    """Return the last sentence and the exit status for what ended a task, None for a bug."""
    match error:
        case UserError():
            return str(error), REFUSED
        case RunFailed() | TransportError():
            return str(error), FAILED
        case MemoryError() | OSError(errno=errno.ENOMEM):
            return f"There is no memory left: {str(error) or 'Python asked for more'}.", FAILED
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EROFS):
            where = "" if error.filename is None else f" {error.filename}"
            return f"Cannot write{where}: {error.strerror}.", FAILED
    return None


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show what is said of a file as the sentence that it is, without a line of our source."""
    usual = warnings.formatwarning

    def plain(message: Warning | str, category: type[Warning], *where: Any, **line: Any) -> str:
        if issubclass(category, FileWarning):
            return f"{message}\n"
        return usual(message, category, *where, **line)

    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = usual


@contextmanager
def _command_line(arguments: Sequence[str]) -> Iterator[None]:
    """Give Hydra its command line, and have it re-raise errors instead of printing them."""
    # Hydra 1.3 refuses overrides on both sides of -m: `llm=offline -m seed=0,1`.
    ordered = sorted(arguments, key=lambda word: word not in ("-m", "--multirun"))
    # A resumed run goes on where it is.
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
    state.clear()
    lines = message.splitlines()[:_LINES]
    if state.sweep and state.directory and any(state.directory.glob(f"*/{CONFIG}")):
        where = display_path(state.directory)
        lines.append(f"Go on with the sweep: the same command and hydra.sweep.dir={where}")
    sys.stderr.write("\n".join(lines) + "\n")
    return status
