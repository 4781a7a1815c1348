"""``python -m specahd.learn``: train on one's own instances, and tell whether the programs pay.

``specahd learn FOLDER`` is ``python -m specahd.learn pools.files=FOLDER``. The run is in
``learned/<pools>``, named by the content of the files, so that the same command goes on where it
broke off. ``days.jsonl`` there holds the costs of the days that were not seen.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from specahd.api.learning import expect_days, measure, verdict
from specahd.api.own_pools import describe_pools, first_problem, pool_folder
from specahd.api.plans import make_plan, run_training
from specahd.config import resume
from specahd.config.cli import run_command, save_config
from specahd.config.preflight import check_training, name_models
from specahd.config.process import exit_on_interrupt, write_lines
from specahd.config.schemas import LearnConfig, TrainConfig
from specahd.config.targets import instantiate_group
from specahd.config.words import own_files
from specahd.core.errors import JournalError, ServiceError, TransportError
from specahd.core.folders import display_path
from specahd.core.settings import Pools, RunOptions
from specahd.routing.pools import read_pool
from specahd.runs.files import CHECKPOINT, JOURNAL
from specahd.runs.reading import RunStatus, read_run
from specahd.tracking.observers import Observers, ProgressObserver


def learn(config: DictConfig) -> None:
    """Split the instances, train, and measure on those that were not seen."""
    with exit_on_interrupt():
        options: LearnConfig = OmegaConf.to_object(config)  # type: ignore[assignment]  # its schema
        check_training(config)
        problem = instantiate_group(config.problem, "problem")
        folder = pool_folder(problem, options.pools, "")
        days = read_pool(problem, folder, "validation", count=options.budget.validation)
        expect_days(days)
        # As in a training, so that the run is one: its files may come and go.
        training = OmegaConf.masked_copy(config, list(TrainConfig.__dataclass_fields__))
        training.pools.files = str(folder)
        directory = Path(options.out or Path("learned", folder.name)).absolute()
        if (directory / JOURNAL).exists():
            resume.check_same(training, directory, "out")
        write_lines(*describe_pools(problem, folder))
        sys.stdout.flush()
    observer = ProgressObserver()
    try:
        with observer.reporting():
            _train(replace(options, pools=Pools(files=str(folder))), training, directory, observer)
            rows = measure(
                *(problem, days, directory / CHECKPOINT, options.time_limit, options.seed),
                observer,
                require=options.sandbox.require,
            )
    except (KeyboardInterrupt, ServiceError, TransportError, JournalError) as error:
        error.args = (f"{str(error) or 'Interrupted.'}\nGo on with the same command.",)
        raise
    stated = {name: getattr(options.pools, name) for name in options.pools.given}
    given = [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in stated.items()
    ]
    place = f"checkpoint={display_path(directory)}"
    command = " ".join(["specahd solve today.csv", *given, place])
    write_lines(verdict(rows, options.time_limit, command))


def _train(
    options: RunOptions, config: DictConfig, directory: Path, progress: ProgressObserver
) -> None:
    """Train in a directory, or go on with the run there; do nothing if it has ended."""
    repeat = (directory / JOURNAL).exists()
    if repeat and read_run(directory).status is not RunStatus.INTERRUPTED:
        return
    name_models(config.llm)
    observer = Observers([progress, instantiate_group(config.tracking, "tracking")])
    observer.on_prepare()
    plan = make_plan(options, lambda group: instantiate_group(config[group], group))
    describe = (lambda _: None) if repeat else partial(save_config, config)
    directory.mkdir(parents=True, exist_ok=True)
    try:
        run_training(plan, directory, observer, repeat=repeat, describe=describe)
    finally:
        observer.write_warnings()


def _rewritten(words: Sequence[str]) -> list[str]:
    """Name the option of files and those of tables, and the problem of the first file."""
    rewritten, files, options = own_files(words)
    named = any(word.startswith("problem=") for word in rewritten)
    found = None if named or not files else first_problem(files, options)
    return [*([f"problem={found}"] if found else []), *rewritten]


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(learn, "learn", rewrite=_rewritten, extra="train")


if __name__ == "__main__":
    sys.exit(main())
