"""Searches with other numbers of nodes: of a part of an instance, or of all along a curve."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.engine.orders import Order
from specahd.engine.schedule import SMALL
from specahd.engine.searches import NOBODY, Arrays, Search
from specahd.engine.state import DEMANDS
from specahd.routing.base import IntArray
from specahd.routing.distances import DURATIONS, MATRIX
from specahd.routing.geometry import along_curve


class RenumberedSearch:
    """A search that numbers nodes in another order than its caller.

    Parameters
    ----------
    kind
        The class of the search that has these numbers.
    arrays
        The arrays of the whole instance.
    nodes
        The depot and all nodes of the routes; the index of a node is its new number.
    part
        Whether the routes are only some of a solution's. Their customers then form an instance of
        their own, and answers contain the current routes, too.
    """

    def __init__(
        self,
        kind: type[Search],
        arrays: Arrays,
        routes: Sequence[IntArray],
        seed: int,
        nodes: IntArray,
        part: bool = False,
    ) -> None:
        self._nodes, self._part = nodes, part
        self._places = np.zeros(len(arrays[DEMANDS]), np.int64)
        self._places[nodes] = np.arange(len(nodes))
        own = self._places[routes[0]]
        # Read-only, as for any search: loops are compiled for no other arrays.
        own.flags.writeable = False
        self._search = kind(_part(arrays, nodes, self._places), (own,), seed)

    def propose(self, upper: Any, order: Order) -> Answer:
        sizes, customers = self._search.propose(upper, order).arrays
        return Answer([sizes, self._nodes[customers]])

    def run(self, upper: Any, lowers: Any, order: Order, group: IntArray = NOBODY) -> Answer:
        answer = self._search.run(upper, lowers, order, self._places[group])
        report, *best = answer.arrays
        routes = [self._search.current_routes(), *best] if self._part else best
        return Answer([report, *(self._nodes[each] for each in routes)], answer.fallbacks)


def search_for(
    kind: type[Search],
    arrays: Arrays,
    routes: Sequence[IntArray],
    seed: int,
    *,
    part: bool = False,
) -> Search | RenumberedSearch:
    """Return a search that begins at a solution.

    Parameters
    ----------
    part
        Whether the routes are only some of a solution's. Answers then contain current routes, too.
    """
    if not kind.numbered:
        return kind(arrays, routes, seed)
    nodes = np.union1d(routes[0], 0) if part else np.arange(len(arrays[DEMANDS]))
    numbered = _numbered(arrays, nodes)
    if numbered is nodes and not part:
        return kind(arrays, routes, seed)
    return RenumberedSearch(kind, arrays, routes, seed, numbered, part)


def _numbered(arrays: Arrays, nodes: IntArray) -> IntArray:
    """Return nodes in the order in which they get numbers, the depot first.

    The size of the whole instance decides for its parts, too, because programs are chosen for it.
    """
    if MATRIX in arrays or len(arrays[DEMANDS]) <= SMALL:
        return nodes
    order = np.argsort(along_curve(arrays["coords"][nodes[1:]]), kind="stable")
    return np.concatenate((nodes[:1], nodes[1:][order]))


def _part(arrays: Arrays, nodes: IntArray, places: IntArray) -> Arrays:
    """Return the arrays of an instance that consists of some nodes of another one.

    A neighbour list keeps its length. Missing neighbours are replaced, at its end, by the customer
    itself, next to which it is never inserted.

    Parameters
    ----------
    nodes
        The nodes in their new order; the depot, 0, is the first.
    places
        The index of each node in ``nodes``; 0 for nodes that are not there.
    """
    part = {
        name: array[np.ix_(nodes, nodes)] if name in (MATRIX, DURATIONS) else array[nodes]
        for name, array in arrays.items()
        if len(array) == len(places)
    }
    near, near_distances = places[part["neighbours"]], part["neighbour_distances"]
    for node in np.flatnonzero((near == 0).any(axis=1)):
        kept = near[node] > 0
        count = np.count_nonzero(kept)
        near[node, :count], near_distances[node, :count] = (
            near[node, kept],
            near_distances[node, kept],
        )
        near[node, count:], near_distances[node, count:] = node, near_distances[node, -1:]
    part["neighbours"] = near
    for array in part.values():
        array.flags.writeable = False
    return {**arrays, **part}
