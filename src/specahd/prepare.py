"""``python -m specahd.prepare``: write the instance pools of a problem.

``verify=FOLDER`` reads the public sets there instead, those of every problem of
``conf/problem``, and checks every published solution in them.
"""

import sys
from pathlib import Path

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from specahd.config import CONF_DIR
from specahd.config.door import door
from specahd.core.errors import FileError
from specahd.routing import pools, public
from specahd.tracking.progress import ProgressObserver


def prepare(config: DictConfig) -> None:
    """Write the pools, or verify the ones that are there, and say what they hold."""
    if config.verify is not None:
        verify(Path(config.verify))
        return
    problem = instantiate(config.problem)
    folder = pools.prepare(problem, Path(config.pools.dir), config.pools.seed)
    record = pools.manifest(folder)["pools"]
    pools.refuse_overlap(record)
    for pool in record:
        instances = pools.read_pool(problem, folder, pool)
        sizes = [instance.size for instance in instances]
        sys.stdout.write(
            f"{folder / pool}: {len(sizes)} instances of {min(sizes)} to {max(sizes)}\n"
        )
    sys.stdout.write("No instance occurs twice, by content hash.\n")


def verify(folder: Path) -> None:
    """Verify the public sets of every problem and print what was found.

    Raises
    ------
    FileError
        A file cannot be read, or a published solution is not what it claims.
    """
    progress = ProgressObserver()
    tallies: list[public.Tally] = []
    for path in sorted((CONF_DIR / "problem").glob("*.yaml")):
        problem = instantiate(OmegaConf.load(path))
        progress.on_phase(f"public sets of {problem.name}", 0)
        tallies += public.verify(problem, folder, progress.on_step)
    total = public.Tally("total")
    for tally in tallies:
        sys.stdout.write(f"{tally}\n")
        total.add(tally)
    for sentence in total.known:
        sys.stdout.write(f"known to be wrong: {sentence}\n")
    sys.stdout.write(f"{total}\n")
    mismatches = total.mismatches
    if mismatches:
        raise FileError("\n".join([*mismatches[:4], f"{len(mismatches)} mismatches in all."]))


if __name__ == "__main__":
    sys.exit(door(prepare, "prepare"))
