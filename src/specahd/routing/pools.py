"""The instance pools on disk: written once, verified when read, checked as disjoint.

``<dir>/<problem>/<pool>/<instance>`` with ``<dir>/<problem>/manifest.json``, which
records the seed and the SHA-256 of every file. The pool ``confirmation`` has a manifest of its
own, because it is written when it is first read, and no training reads it. Pools of one's own
instances are in ``<dir>/<problem>-<hash>``; their manifest has no seed, but each source file.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from specahd.core.errors import ConfigError, FileError
from specahd.core.folders import atomic_folder, safe_file_name, write_errors
from specahd.core.seeding import generator
from specahd.core.settings import Pools
from specahd.routing.base import CONFIRMATION, POOLS, AnyProblem
from specahd.routing.splitting import split

MANIFEST = "manifest.json"
_CONFIRMATION_SEED = 5000
"""What its seed is above the seed of the others: further than seeds that somebody tries."""
SUBSET_SEED = 0
"""Seed of the subsets drawn from pools that are not for training, whatever the run's seed."""
_TRAINING = ("lower_train", "upper_train")


def prepare_pools(problem: AnyProblem, pools: Pools) -> Path:
    """Write the problem's generated pools unless they exist; return their folder.

    The write is atomic for all pools together, also if several processes prepare at once.

    Raises
    ------
    ConfigError
        The existing pools were made with another seed.
    WriteError
        There are no pools, and the disk is full or read-only.
    """
    target = Path(pools.dir) / problem.name

    def write(draft: Path) -> None:
        drawn = {pool: (draft / pool, generate(problem, pool, pools.seed)) for pool in POOLS}
        _write(problem, draft, drawn, {}, seed=pools.seed)

    _write_once(target, problem, write)
    made_with = read_manifest(target)["seed"]
    if made_with != pools.seed:
        raise ConfigError(
            f"Expected pools.seed={made_with}, with which {target} was made, got {pools.seed}; "
            "name another pools.dir for other pools."
        )
    return target


@dataclass(frozen=True)
class Source:
    """One of the user's own instances, with the name and the SHA-256 of its file, if it has one."""

    instance: Any
    file: str | None = None
    sha256: str | None = None


def split_pools(problem: AnyProblem, sources: Sequence[Source], pools: Pools) -> Path:
    """Write one's own instances, split into pools, unless they exist; return their folder.

    The folder ``<dir>/<problem>-<hash>`` depends on the content of the instances, not on their
    names and their order. Of instances that differ in their names alone, the first one is kept.

    Raises
    ------
    ConfigError
        There are too few instances that are no near copies of each other, or one has limits or
        prices of vehicles.
    WriteError
        The disk is full or read-only.
    """
    for source in sources:
        if getattr(source.instance, "limited", False):
            raise ConfigError(
                "Expected instances without limits and prices of vehicles, and without stops that "
                f"may or must be left out, got {source.file or source.instance.name}: only solving "
                "knows them."
            )
    hashes = [definition_hash(problem.dumps(source.instance)) for source in sources]
    first = {key: place for place, key in reversed(list(enumerate(hashes)))}
    kept = {key: sources[first[key]].instance for key in sorted(first)}
    places = split(kept, pools)
    stated = [problem.name, list(kept), list(pools.shares), pools.near]
    content = _hash(json.dumps(stated).encode())
    plain = {key: safe_file_name(str(each.name), "instance") for key, each in kept.items()}
    often = Counter(plain.values())
    names = {key: name if often[name] == 1 else f"{name}-{key[:8]}" for key, name in plain.items()}

    def write(draft: Path) -> None:
        chosen = {
            pool: (
                draft / pool,
                [
                    replace(instance, name=names[key])
                    for key, instance in kept.items()
                    if places[key].pool == pool
                ],
            )
            for pool in POOLS
        }
        listed = [
            {
                "file": source.file,
                "sha256": source.sha256,
                "name": names[key],
                **asdict(places[key]),
            }
            for source, key in zip(sources, hashes, strict=True)
        ]
        facts = {
            "content": content,
            "shares": list(pools.shares),
            "near": pools.near,
            "options": {name: getattr(pools, name) for name in pools.given},
            "sources": listed,
        }
        _write(problem, draft, chosen, {}, seed=None, **facts)

    target = Path(pools.dir) / f"{problem.name}-{content[:8]}"
    _write_once(target, problem, write)
    return target


def read_manifest(folder: Path, pools: Collection[str] = POOLS) -> dict[str, Any]:
    """Return the manifest of prepared pools, which has these pools."""
    path = folder / MANIFEST
    try:
        record = json.loads(path.read_text())
        if set(record["pools"]) >= set(pools) and isinstance(record["seed"], int | None):
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
    manifest = read_manifest(folder)
    pools, own = manifest["pools"], manifest["seed"] is None
    if pool == CONFIRMATION and not own:
        pools = _prepare_confirmation(problem, folder)["pools"]
    if pool == CONFIRMATION and own:
        raise ConfigError(
            f"Expected pool to be one of {', '.join(pools)}, got {pool}: it is generated, and "
            f"{folder} holds your own instances, of which validation is never trained on."
        )
    if pool not in pools:
        accepted = ", ".join((*pools, *([] if own else [CONFIRMATION])))
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

    def write(draft: Path) -> None:
        others = read_manifest(folder)
        seed = others["seed"]
        texts = {
            pool: {name: (folder / pool / name).read_text() for name in names}
            for pool, names in others["pools"].items()
        }
        drawn = {CONFIRMATION: (draft, generate(problem, CONFIRMATION, seed))}
        _write(problem, draft, drawn, texts, seed=seed)

    _write_once(target, problem, write, folder.parent)
    return read_manifest(target, (CONFIRMATION,))


def _write_once(
    target: Path,
    problem: AnyProblem,
    write: Callable[[Path], None],
    directory: Path | None = None,
) -> None:
    """Have a folder of pools written, unless it exists, by one process at a time.

    Parameters
    ----------
    directory
        Where the lock is; None: beside the folder.
    """
    directory = directory or target.parent
    if (target / MANIFEST).exists():
        return
    with write_errors(target):
        directory.mkdir(parents=True, exist_ok=True)
        with FileLock(directory / f".{problem.name}.lock"):
            if (target / MANIFEST).exists():
                return
            if target.exists() and not (target.is_dir() and not any(target.iterdir())):
                raise FileError(f"{target} holds no pools; name another pools.dir for them.")
            with atomic_folder(target) as draft:
                write(draft)


def _write(
    problem: AnyProblem,
    draft: Path,
    chosen: Mapping[str, tuple[Path, Iterable[Any]]],
    others: Mapping[str, Mapping[str, str]],
    **facts: Any,
) -> None:
    """Write pools into their places, and their manifest, unless they overlap others.

    Parameters
    ----------
    chosen
        The place and the instances of each pool.
    facts
        What the manifest holds besides the problem and the SHA-256 of every file.
    """
    pools: dict[str, dict[str, str]] = {}
    texts: dict[str, dict[str, str]] = {}
    for pool, (place, instances) in chosen.items():
        place.mkdir(exist_ok=True)
        pools[pool], texts[pool] = {}, {}
        for instance in instances:
            name = f"{instance.name}{problem.suffix}"
            text = problem.dumps(instance)
            (place / name).write_bytes(text.encode())
            pools[pool][name] = _hash(text.encode())
            texts[pool][name] = text
    refuse_overlap({**others, **texts})
    record = {"problem": problem.name, "seed": facts.pop("seed"), "pools": pools, **facts}
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
