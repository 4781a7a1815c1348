"""``python -m specahd.train``: search for programs and freeze the best into a checkpoint.

A run directory (``hydra.run.dir``) receives ``config.yaml``, ``sandbox.json``, the journal's files,
``checkpoint/``, and the checkpoint's rows on the ``selection`` and ``validation`` pools.
"""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from specahd.config import CONF_DIR, resume
from specahd.config.cli import run_command, run_directory, save_config
from specahd.config.files import with_methods_of_today
from specahd.config.preflight import check_training, name_models
from specahd.config.process import exit_on_interrupt, write_lines
from specahd.config.schemas import TrainConfig
from specahd.config.sweeps import in_sweep, with_sweeper
from specahd.config.targets import instantiate_group
from specahd.core.errors import ConfigError, JournalError, ServiceError, TransportError
from specahd.core.folders import display_path
from specahd.core.settings import Pools
from specahd.design.makers import check_rounds
from specahd.runs.files import JOURNAL
from specahd.runs.reading import RunStatus, read_run
from specahd.tracking.observers import Observers, ProgressObserver

if TYPE_CHECKING:
    from specahd.api.plans import TrainingPlan


def train(config: DictConfig) -> float:
    """Train, or resume an interrupted run; return the mean improvement on `selection`."""
    directory = run_directory()
    repeat = config.resume is not None
    if config.pools.files is not None:
        from specahd.api.own_pools import pool_folder

        own: Pools = OmegaConf.to_object(config.pools)  # type: ignore[assignment]  # of its schema
        config.pools.files = str(pool_folder(instantiate_group(config.problem, "problem"), own))
    if repeat:
        resume.check_alone(config, directory)
        config = resume.resume_configuration(config)
    elif (directory / JOURNAL).exists():
        if not in_sweep():
            raise ConfigError(
                f"{directory} holds a run already; go on with resume={display_path(directory)} "
                "or name another hydra.run.dir."
            )
        resume.check_same(config, directory)
        found = read_run(directory)
        status = found.status
        more = status is RunStatus.PARTIAL and resume.is_raised(config, directory)
        if status is not RunStatus.INTERRUPTED and not more:
            write_lines(f"{display_path(directory)} is {status} already")
            return found.improvement
        repeat = True
    with nullcontext() if in_sweep() else exit_on_interrupt():
        check_training(config)
        name_models(config.llm)
        progress = ProgressObserver(name=directory.name)
        observer = Observers([progress, instantiate_group(config.tracking, "tracking")])
        observer.on_prepare()
        # Imported here, so that a wrong option is reported before the slow imports.
        from specahd.api.plans import run_training

        plan = _plan(config)
    longer = repeat and resume.is_raised(config, directory)
    save: Any = partial(resume.save_raised, before=directory) if longer else save_config
    describe = (lambda _: None) if repeat and not longer else partial(save, config)
    try:
        with progress.reporting():
            run = run_training(
                plan, directory, observer, repeat=repeat, longer=longer, describe=describe
            )
    except BaseException as error:
        if not (directory / JOURNAL).exists():
            raise
        observer.write_warnings()
        if isinstance(error, KeyboardInterrupt | ServiceError | TransportError | JournalError):
            command = f"python -m specahd.train resume={display_path(directory)}"
            error.args = (f"{str(error) or 'Interrupted.'}\nGo on with: {command}",)
        raise
    observer.write_warnings()
    from specahd.tracking.tables import print_summaries

    title = f"{plan.problem.name}: the checkpoint of round {run.round}, seed {config.seed}"
    print_summaries(run.summaries, title, run.closing_lines())
    return run.improvement


def _plan(config: DictConfig) -> "TrainingPlan":
    """Return the plan of a configuration; refuse wrong options before any work."""
    from specahd.api.plans import make_plan

    options: TrainConfig = OmegaConf.to_object(config)  # type: ignore[assignment]  # of its schema
    return make_plan(options, lambda group: instantiate_group(config[group], group))


def _check_job(config: DictConfig) -> None:
    """Check a job of a sweep before the sweep begins; refuse wrong options."""
    resume.check_alone(config)
    check_training(config)
    instantiate_group(config.problem, "problem")
    if isinstance(method := instantiate_group(config.method, "method"), partial):
        check_rounds(method)
    if config.budget.max_cost is not None or config.budget.max_tokens is not None:
        resolved = deepcopy(config)
        name_models(resolved.llm)
        _plan(resolved).check_bounds()


def _rewritten(arguments: Sequence[str]) -> Sequence[str]:
    """Resolve a run of the MLflow store in ``resume=``, and add what options imply."""
    arguments = with_sweeper(with_methods_of_today(arguments))
    if not any(word.startswith("resume=") for word in arguments):
        return arguments
    from specahd.tracking.registry import resolve_resume

    store = OmegaConf.load(CONF_DIR / "tracking" / "mlflow.yaml").uri
    return resume.with_choices(resolve_resume(arguments, store))


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(train, "train", rewrite=_rewritten, check=_check_job, extra="train")


if __name__ == "__main__":
    sys.exit(main())
