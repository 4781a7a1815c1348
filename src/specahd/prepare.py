"""``python -m specahd.prepare``: write the instance pools of a problem.

``verify=FOLDER`` writes no pools, but reports on every file of a folder: an instance that was read,
a file that was refused and the reason, or a solution that was checked and its cost.
"""

import sys
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from specahd.api.own_pools import describe_pools, pool_folder
from specahd.config import CONF_DIR
from specahd.config.cli import run_command
from specahd.config.process import write_lines
from specahd.config.targets import instantiate_group
from specahd.core.errors import FileError
from specahd.core.settings import Pools
from specahd.routing import pools, verification
from specahd.routing.base import CONFIRMATION, POOLS
from specahd.tracking.observers import ProgressObserver


def prepare(config: DictConfig) -> None:
    """Write the pools, or verify existing ones, and print their content."""
    if config.verify is not None:
        verify(Path(config.verify), config.problem)
        return
    problem = instantiate_group(config.problem, "problem")
    wanted: Pools = OmegaConf.to_object(config.pools)  # type: ignore[assignment]  # of its schema
    folder = pool_folder(problem, wanted)
    if wanted.files is not None:
        write_lines(*describe_pools(problem, folder))
        return
    texts = {}
    for pool in (*POOLS, CONFIRMATION):
        instances = pools.read_pool(problem, folder, pool)
        sizes = [instance.size for instance in instances]
        write_lines(f"{folder / pool}: {len(sizes)} instances of {min(sizes)} to {max(sizes)}")
        paths = [folder / pool / f"{instance.name}{problem.suffix}" for instance in instances]
        texts[pool] = {path.name: path.read_text() for path in paths}
    pools.refuse_overlap(texts)
    write_lines("No instance occurs twice, by content hash.")


def verify(folder: Path, problem: DictConfig) -> None:
    """Verify every file below a folder, and print the result of each.

    Parameters
    ----------
    problem
        The chosen group. One of the user's own says by its endings which files are its own.

    Raises
    ------
    FileError
        A file cannot be read, or a solution is not what it claims.
    """
    progress = ProgressObserver()
    paths = verification.files(folder)
    progress.on_phase(f"files of {folder}", len(paths))
    findings: list[verification.Finding] = []
    problems, chosen = _problems(), _variants(problem)
    own = None if next(iter(chosen.values())).name in problems else chosen
    for finding in verification.verify(problems, folder, paths, progress.on_step, own):
        findings.append(finding)
        write_lines(finding.sentence)
    total = verification.Tally()
    for group, tally in verification.tallies(findings).items():
        total.update(tally)
        if set(tally) != {verification.Status.OTHER}:
            write_lines(tally.line(group))
    for finding in findings:
        if finding.status is verification.Status.KNOWN:
            write_lines(f"known to be wrong: {finding.sentence}")
    write_lines(total.line("total"))
    if not total[verification.Status.READ]:
        raise FileError(f"{folder} holds no instance that can be read.")
    wrong = [finding.sentence for finding in findings if finding.wrong]
    if wrong:
        count = f"Not what they should be: {len(wrong)} of {len(findings)} files."
        raise FileError("\n".join([*wrong[:4], count]))


def _problems() -> dict[str, verification.Variants]:
    """Return every problem of ``conf/problem`` in each of its conventions."""
    problems: dict[str, verification.Variants] = {}
    for path in sorted((CONF_DIR / "problem").glob("*.yaml")):
        variants = _variants(OmegaConf.load(path))  # type: ignore[arg-type]  # a mapping
        problems[next(iter(variants.values())).name] = variants
    return problems


def _variants(config: DictConfig) -> verification.Variants:
    """Return a problem in each of its conventions."""
    default = instantiate_group(config, "problem")
    first, *others = default.conventions or [""]
    return {first: default} | {
        name: instantiate_group(config, "problem", convention=name) for name in others
    }


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(prepare, "prepare")


if __name__ == "__main__":
    sys.exit(main())
