"""Solves, repairs and evaluates where only what ``pip install specahd`` brings can be imported.

``test_extras.py`` runs it in a new interpreter, with the folder of a run. The rest of the
environment is hidden: its modules cannot be imported, its distributions are not found.
"""

import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

from forked_zygotes import fork_zygotes
from specahd.core import extras
from specahd.core.errors import ConfigError


def brought(name="specahd", extra=""):
    """Return the names of a distribution and of all that it needs."""
    names = {name.lower().replace("_", "-")}
    for line in distribution(name).requires or ():
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            names |= brought(need.name)
    return names


BASE = brought()
LAST = "What follows is refused."


class Hidden:
    """Refuses to find what no distribution of :data:`BASE` holds."""

    def __init__(self):
        owners = packages_distributions()
        self._modules = {
            module
            for module, names in owners.items()
            if not {name.lower().replace("_", "-") for name in names} & BASE
        }

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self._modules:
            raise ModuleNotFoundError(f"{name} is no package of specahd's own", name=name)
        return None


def found(name):
    if name.lower().replace("_", "-") not in BASE:
        raise PackageNotFoundError(name)
    return distribution(name)


def main(run):
    from specahd import __main__, api
    from specahd.config import SAMPLES

    for sample in sorted(SAMPLES.iterdir()):
        options = ["capacity=30", "speed=8.3"] if sample.suffix == ".csv" else []
        assert __main__.main(["solve", f"samples/{sample.name}", *options, "repairs=200"]) == 0
    repaired = api.load(run / "checkpoint").repair(SAMPLES / "cvrp.vrp")
    assert repaired.cost <= repaired.incumbent_cost
    words = [f"checkpoint={run}", f"instance={SAMPLES / 'cvrp.vrp'}"]
    assert __main__.main(["evaluate", *words]) == 0
    # From here on, what standard error gets is looked at.
    sys.stderr.write(f"{LAST}\n")
    for command in (
        ["train"], ["track", f"run={run}"], ["select"], ["report"], ["fetch"],
        ["solve", "samples/cvrp.vrp", "plot=routes.png"], ["evaluate", *words, "baseline=pyvrp"],
    ):  # fmt: skip
        assert __main__.main(command) == 2, command
    for call in (lambda: api.train("cvrp", out="run"), repaired.plot):
        try:
            call()
        except ConfigError as error:
            sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    extras.distribution = found
    sys.meta_path.insert(0, Hidden())
    fork_zygotes()
    main(Path(sys.argv[1]))
