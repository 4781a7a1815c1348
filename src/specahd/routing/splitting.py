"""The split of one's own instances into pools, by content: near copies stay together.

Two instances are near copies if a share of the stops of the larger one (``pools.near``) are stops
of the other too, with the same place, demand and times. Names and orders do not count. What is a
near copy of a near copy belongs to the same group, and a group is in one pool.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.settings import Pools
from specahd.routing.base import POOLS

_NEAREST = 5
"""Distances to so many other stops stand for the place of a stop that has no coordinates."""


@dataclass(frozen=True, slots=True)
class Place:
    """The pool of an instance, and the number of its group of near copies."""

    pool: str
    group: int


def split(instances: Mapping[str, Any], pools: Pools) -> dict[str, Place]:
    """Return the place of each instance, by the hash of its text, which is the key.

    Groups are ordered by the hash of their content and cut at ``pools.shares``. So one more
    instance, unless it is a near copy, moves others at most into the pool beside theirs, and none
    from a pool that is trained on to ``validation`` or back, because ``selection`` is between.

    Raises
    ------
    ConfigError
        There are fewer groups than pools.
    """
    stops = [stops_of(instance) or [(key,)] for key, instance in instances.items()]
    group_of = _groups(stops, pools.near)
    hashes: dict[int, str] = {}
    for listed, group in zip(stops, group_of, strict=True):
        digest = hashlib.sha256(repr(sorted(listed)).encode()).hexdigest()
        hashes[group] = min(digest, hashes.get(group, digest))
    ranks = {group: rank for rank, group in enumerate(sorted(hashes, key=hashes.__getitem__))}
    if len(ranks) < len(POOLS):
        no_copies = len(ranks) == len(instances)
        what = "" if no_copies else " that are no near copies of each other"
        more = "" if no_copies else f" of {len(instances)}"
        cure = "" if no_copies else f", or raise pools.near={pools.near:g}"
        raise ConfigError(
            f"Expected at least {len(POOLS)} instances{what}, one for each pool, got "
            f"{len(ranks)}{more}: add others{cure}."
        )
    ends: list[int] = []
    for number, share in enumerate(list(accumulate(pools.shares))[:-1], 1):
        # No pool is empty.
        least = max(round(len(ranks) * share), ends[-1] + 1 if ends else 1)
        ends.append(min(least, len(ranks) - len(POOLS) + number))
    return {
        key: Place(POOLS[int(np.searchsorted(ends, ranks[group], side="right"))], ranks[group])
        for key, group in zip(instances, group_of, strict=True)
    }


def stops_of(instance: Any) -> list[tuple[Any, ...]]:
    """Return what defines each stop of an instance: its place, its demand and its times.

    Without coordinates, the distances to the nearest stops stand for the place. An instance of
    another kind, which has no coordinates at all, has no stops.
    """
    coords = getattr(instance, "coords", None)
    if coords is None:
        return []
    labels = getattr(instance, "labels", None)
    degrees = getattr(labels, "degrees", None)
    matrix = getattr(instance, "matrix", None)
    parts = [coords if degrees is None else degrees]
    if instance.coords_from_scaling and matrix is not None:
        parts = [np.sort(matrix, axis=1)[:, 1 : _NEAREST + 1]]
    first = 0
    if (demands := getattr(instance, "demands", None)) is not None:
        # Those of a table are in parts of its unit, which may differ from day to day.
        parts.append(demands / 10.0 ** getattr(labels, "decimals", 0))
        first = 1
    if (windows := getattr(instance, "windows", None)) is not None:
        # The latest due time may stand for none, and then depends on the other stops.
        due = np.where(windows.due == windows.due.max(), np.inf, windows.due)
        parts += [windows.ready, due, windows.service]
    return list(map(tuple, np.column_stack(parts)[first:].tolist()))


def _groups(stops: Sequence[Sequence[tuple[Any, ...]]], near: float) -> list[int]:
    """Return the number of the group of each instance."""
    # They are slow to import, and few commands split instances.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[tuple[tuple[Any, ...], int], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, listed in enumerate(stops):
        # A stop that occurs twice counts twice.
        for stop, count in Counter(listed).items():
            for again in range(count):
                rows.append(row)
                columns.append(numbers.setdefault((stop, again), len(numbers)))
    size = (len(stops), len(numbers))
    table = csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape=size)
    shared = (table @ table.T).tocoo()
    sizes = np.array(list(map(len, stops)))
    alike = shared.data >= near * np.maximum(sizes[shared.row], sizes[shared.col])
    links = csr_array(
        (alike[alike], (shared.row[alike], shared.col[alike])), shape=(len(stops), len(stops))
    )
    found: list[int] = connected_components(links, directed=False)[1].tolist()
    return found
