"""``python -m specahd.prepare``: write the instance pools of a problem."""

import sys
from pathlib import Path

from hydra.utils import instantiate
from omegaconf import DictConfig

from specahd.config.door import door
from specahd.routing import pools


def prepare(config: DictConfig) -> None:
    """Write the pools, or verify the ones that are there, and say what they hold."""
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


if __name__ == "__main__":
    sys.exit(door(prepare, "prepare"))
