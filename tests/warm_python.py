"""A Python that has imported what the commands import, and forks itself for each of them.

``forking.py`` starts it, and ``commands.py`` says what is to be run. Each command is a process of
its own, with the folder, the environment and the streams that it was given, and ends as a process
ends: only the seconds of its imports, and those of taking them apart, are saved.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import sys
import threading

import copied_stores
import forked_zygotes
import forking
import ready_uploader

# No command itself: they run as ``__main__``, which must not have been imported before.
IMPORTED = [
    "httpcore2",
    "hydra.main",
    "hydra._internal.hydra",
    "mlflow",
    "mlflow.store.tracking.sqlalchemy_store",
    "specahd.api",
    "specahd.api.evaluation",
    "specahd.api.plans",
    "specahd.config.cli",
    "specahd.config.resume",
    "specahd.llm.client",
    "specahd.llm.offline",
    "specahd.memory.embedding",
    "specahd.memory.structural",
    "specahd.tracking.observers",
    "specahd.tracking.registry",
    "specahd.tracking.sweep",
    "specahd.tracking.tables",
]


def warm_up() -> None:
    """Do what every command does once: import, parse, load kernels, ask the host, make a store."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # as our own code does before it imports it
    for name in IMPORTED:
        importlib.import_module(name)
    from hydra import compose, initialize_config_dir
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    from specahd.config import CONF_DIR
    from specahd.config.schemas import register_schemas
    from specahd.reporting import figures
    from specahd.routing.base import contracts
    from specahd.sandbox.client import inspect_host

    figures.warm_up()
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        for config in ("train", "evaluate"):
            compose(config, return_hydra_config=True)
    for path in sorted((CONF_DIR / "problem").glob("*.yaml")):
        conf = OmegaConf.load(path)
        problem = instantiate(conf)
        problem.baseline(next(problem.generate("lower_train", 1)))
        for repair in problem.operators:
            contracts(instantiate(conf, repair=repair).operator)
    inspect_host()
    copied_stores.copy_stores()
    copied_stores.empty_store()
    gc.freeze()  # what lives now lives on, and is shared by the forks


def reaped() -> bool:
    """Take notice of one that waited for a command and has ended; False where there is none."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def await_and_tell(child: int, pipe: int) -> None:
    """Wait for the command and tell its exit status; negative for a signal, as Popen has it."""
    _, status = os.waitpid(child, 0)
    os.write(pipe, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def next_command() -> dict:
    """Serve, and return only in a process that is to become a command."""
    for order, (stdin, stdout, stderr, pipe) in forking.orders():
        if os.fork():
            for descriptor in (stdin, stdout, stderr, pipe):
                os.close(descriptor)
            while reaped():
                pass
            continue
        forking.leave()
        if child := os.fork():
            os.write(pipe, f"{child}\n".encode())
            await_and_tell(child, pipe)
        for number, descriptor in enumerate((stdin, stdout, stderr)):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(pipe)
        return json.loads(order)


def run_and_leave(module: str) -> None:
    """Run a command and end as Python does, but for taking apart all that was imported.

    To write to memory that is shared until then costs a fifth of a second of CPU time.
    """
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        status = end.code or 0
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    forked_zygotes.fork_zygotes()
    warm_up()
    wanted = next_command()
    if wanted["session"]:
        os.setsid()
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    paths = wanted["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [wanted["cwd"], *filter(None, paths)]
    sys.argv = [wanted["module"], *wanted["arguments"]]
    if wanted["module"] == "specahd.train" and "tracking=none" not in wanted["arguments"]:
        ready_uploader.prepare()
    run_and_leave(wanted["module"])
