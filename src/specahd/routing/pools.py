"""The generated instance pools on disk: written once, verified when read, checked as disjoint.

``<dir>/<problem>/<pool>/<instance>`` with ``<dir>/<problem>/manifest.json``, which
records the seed and the SHA-256 of every file. The pool ``confirmation`` has a manifest of its
own, because it is written when it is first read, and no training reads it.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from specahd.core.errors import ConfigError, FileError
from specahd.core.folders import atomic_folder, write_errors
from specahd.core.seeding import generator
from specahd.core.settings import Pools
from specahd.routing.base import CONFIRMATION, POOLS, AnyProblem

MANIFEST = "manifest.json"
_CONFIRMATION_SEED = 5000
"""What its seed is above the seed of the others: further than seeds that somebody tries."""
SUBSET_SEED = 0
"""Seed of the subsets drawn from pools that are not for training, whatever the run's seed."""
_TRAINING = ("lower_train", "upper_train")


def prepare_pools(problem: AnyProblem, pools: Pools) -> Path:
    """Write the problem's pools unless they exist; return their folder.

    The write is atomic for all pools together, also if several processes prepare at once.

    Raises
    ------
    ConfigError
        The existing pools were made with another seed.
    WriteError
        There are no pools, and the disk is full or read-only.
    """
    directory = Path(pools.dir)
    target = directory / problem.name
    if not (target / MANIFEST).exists():
        with write_errors(target):
            directory.mkdir(parents=True, exist_ok=True)
            with FileLock(directory / f".{problem.name}.lock"):
                if not (target / MANIFEST).exists():
                    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
                        raise FileError(
                            f"{target} holds no pools; name another pools.dir for them."
                        )
                    with atomic_folder(target) as draft:
                        places = {pool: draft / pool for pool in POOLS}
                        _write(problem, draft, pools.seed, places, {})
    made_with = read_manifest(target)["seed"]
    if made_with != pools.seed:
        raise ConfigError(
            f"Expected pools.seed={made_with}, with which {target} was made, got {pools.seed}; "
            "name another pools.dir for other pools."
        )
    return target


def read_manifest(folder: Path, pools: Collection[str] = POOLS) -> dict[str, Any]:
    """Return the manifest of prepared pools, which has these pools."""
    path = folder / MANIFEST
    try:
        record = json.loads(path.read_text())
        if set(record["pools"]) >= set(pools) and isinstance(record["seed"], int):
            return dict(record)
    except (OSError, ValueError, TypeError, KeyError):
        pass
    raise FileError(
        f"{path} is not a manifest of pools; remove {folder} to have it prepared again."
    )


def read_pool(
    problem: AnyProblem, folder: Path, pool: str, *, count: int | None = None, seed: int = 0
) -> list[Any]:
    """Read a pool, or ``count`` of its instances, in the pool's order.

    ``confirmation`` is written first if it is missing.

    Parameters
    ----------
    seed
        Seed of the draw from a training pool. From other pools every seed draws the same
        instances (:data:`SUBSET_SEED`), because runs are selected and compared on them.

    Raises
    ------
    ConfigError
        The pool does not exist.
    FileError
        A file is missing, or its checksum differs from the manifest's.
    """
    pools = read_manifest(folder)["pools"]
    if pool == CONFIRMATION:
        pools = _prepare_confirmation(problem, folder)["pools"]
    if pool not in pools:
        accepted = ", ".join((*pools, CONFIRMATION))
        raise ConfigError(f"Expected pool to be one of {accepted}, got {pool!r}.")
    names = list(pools[pool])
    if count is not None and count < len(names):
        rng = generator(seed if pool in _TRAINING else SUBSET_SEED, "subset", pool)
        kept = sorted(rng.choice(len(names), size=count, replace=False).tolist())
        names = [names[index] for index in kept]
    instances = []
    for name in names:
        path = folder / pool / name
        if not path.is_file() or _hash(path.read_bytes()) != pools[pool][name]:
            raise FileError(
                f"{path} is missing or altered; remove {folder} to have it prepared again."
            )
        instances.append(problem.read(path))
    return instances


def is_sampled(folder: Path, pool: str, count: int | None) -> bool:
    """Return whether :func:`read_pool` draws: a pool has more than ``count`` instances."""
    return count is not None and count < len(read_manifest(folder)["pools"][pool])


def generate(problem: AnyProblem, pool: str, seed: int) -> Iterator[Any]:
    """Yield the instances of a pool; ``confirmation`` is validation from another seed."""
    if pool == CONFIRMATION:
        return problem.generate("validation", seed + _CONFIRMATION_SEED)
    return problem.generate(pool, seed)


def _prepare_confirmation(problem: AnyProblem, folder: Path) -> dict[str, Any]:
    """Write the pool ``confirmation`` beside the others unless it exists; return its manifest."""
    target = folder / CONFIRMATION
    if not (target / MANIFEST).exists():
        with write_errors(target), FileLock(folder.parent / f".{problem.name}.lock"):
            if not (target / MANIFEST).exists():
                others = read_manifest(folder)
                texts = {
                    pool: {name: (folder / pool / name).read_text() for name in names}
                    for pool, names in others["pools"].items()
                }
                with atomic_folder(target) as draft:
                    _write(problem, draft, others["seed"], {CONFIRMATION: draft}, texts)
    return read_manifest(target, (CONFIRMATION,))


def _write(
    problem: AnyProblem,
    draft: Path,
    seed: int,
    places: Mapping[str, Path],
    others: Mapping[str, Mapping[str, str]],
) -> None:
    """Write pools into their places, and their manifest, unless they overlap others."""
    pools: dict[str, dict[str, str]] = {}
    texts: dict[str, dict[str, str]] = {}
    for pool, place in places.items():
        place.mkdir(exist_ok=True)
        pools[pool], texts[pool] = {}, {}
        for instance in generate(problem, pool, seed):
            name = f"{instance.name}{problem.suffix}"
            text = problem.dumps(instance)
            (place / name).write_bytes(text.encode())
            pools[pool][name] = _hash(text.encode())
            texts[pool][name] = text
    refuse_overlap({**others, **texts})
    record = {"problem": problem.name, "seed": seed, "pools": pools}
    (draft / MANIFEST).write_text(json.dumps(record, indent=1) + "\n")


def refuse_overlap(pools: Mapping[str, Mapping[str, str]]) -> None:
    """Check that no instance and no name occurs twice in all pools together.

    Parameters
    ----------
    pools
        The texts of the instances, by pool and by name. Two texts that differ only in
        NAME and COMMENT are the same instance.

    Raises
    ------
    ValueError
        An instance or a name occurs twice: a generator is wrong.
    """
    seen: dict[str, str] = {}
    names: set[str] = set()
    for pool, texts in pools.items():
        for name, text in texts.items():
            if name in names:
                raise ValueError(f"The pools are not disjoint: the name {name} occurs twice.")
            names.add(name)
            first = seen.setdefault(definition_hash(text), f"{pool}/{name}")
            if first != f"{pool}/{name}":
                raise ValueError(
                    f"The pools are not disjoint: {pool}/{name} is the same instance as {first}."
                )


def definition_hash(text: str) -> str:
    """Return the hash of an instance's definition: its text without NAME and COMMENT."""
    lines = text.splitlines(keepends=True)
    telling = ("NAME", "COMMENT")
    kept = [line for line in lines if line.partition(":")[0].strip().upper() not in telling]
    return _hash("".join(kept).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
