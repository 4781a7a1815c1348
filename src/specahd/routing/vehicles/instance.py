"""The instance of every vehicle problem: one data object, whose optional fields are constraints.

A problem is a name for the fields that are set: the CVRP has none of them, the VRPTW ``windows``,
the SDVRP ``splits``. Checkers, constructions and the shared block look at the fields only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import DURATIONS
from specahd.routing.formats.matrix import either_way
from specahd.routing.formats.vrplib import Places, VRPLIBData
from specahd.routing.geometry import (
    Convention,
    classical_scaling,
    distances,
    root_mean_square_radius,
)
from specahd.routing.kernels.distances import Distances, distances_of, whole_matrix

TENTHS = 10
"""Number of parts of a file's unit; a DIMACS instance is stored in these parts."""
TOO_HEAVY, OUT_OF_REACH = "too heavy", "out of reach in time"
"""Why no vehicle can serve a customer."""
MOST_LOADS = 200_000
"""Maximum number of loads of all demands together where they are split; each load is a route."""


class Kernel(NamedTuple):
    """The instance as the first arguments of the compiled constructions.

    Parameters
    ----------
    times
        Opening and closing of time windows, and service times, shape (n + 1,) each; None if there
        are none.
    """

    distances: Distances
    demands: IntArray
    capacity: int
    times: tuple[FloatArray, FloatArray, FloatArray] | None


@dataclass(frozen=True, eq=False)
class VehicleInstance(VRPLIBData):
    """One instance: the content of a file, with coordinates, in a unit that makes it exact.

    Node 0 is the depot, nodes 1 to n are the customers. Travel times equal distances, unless there
    are ``durations``, in the unit of the windows. A vehicle that arrives before a window opens
    waits. ``fleet``, ``fixed_cost``, ``prizes`` and the limits of a route are in the file's unit
    (:mod:`specahd.routing.vehicles.fleet`).

    A DIMACS instance (distances rounded down to tenths) is stored in tenths: coordinates and
    times are ten times those of the file, distances are rounded down to integers. With integral
    times its arithmetic is then exact, and so is that of EUC_2D. No sum depends on the order of
    its terms, and no service is late because of a rounding error.

    Parameters
    ----------
    coords
        Shape (n + 1, 2).
    coords_from_scaling
        Whether the file has distances only, and ``coords`` were computed from them.
    start, end
        Where all vehicles leave from, and return to: 0 the depot, n + 1 and above one of the
        places. Where there are ``types``, these say it.
    type_columns
        What the engine receives of the types of vehicles, by name; for a search only.
    """

    coords: FloatArray
    coords_from_scaling: bool = field(default=False, kw_only=True)
    start: int = field(default=0, kw_only=True)
    end: int = field(default=0, kw_only=True)
    type_columns: Mapping[str, NDArray[Any]] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        for array in (*self.columns.values(), self.matrix):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def of(cls, data: VRPLIBData, path: Path) -> Self:
        """Create the instance of a file; missing coordinates come from multidimensional scaling.

        Raises
        ------
        FileError
            No customer can be served, or there are too many loads.
        """
        places = data.places
        if data.coords is None:
            matrix = data.matrix if places is None else places.matrix
            assert matrix is not None  # the readers give one or the other
            coords = classical_scaling(either_way(matrix))
            if places is not None:
                places = replace(places, coords=coords)
                coords = coords[: len(data.demands)]
        else:
            coords = _parts(data.convention) * data.coords
        windows = data.windows
        if windows is not None:
            windows = windows.changed(lambda times: _parts(data.convention) * times)
        instance = cls(
            **vars(data) | {"coords": coords, "windows": windows, "places": places},
            coords_from_scaling=data.coords is None,
        )
        loads = int(instance.demands.sum()) // instance.capacity
        if instance.splits and loads > MOST_LOADS:
            raise FileError(
                f"{path}: its demands take {loads} loads of the capacity {instance.capacity}, "
                f"expected at most {MOST_LOADS}."
            )
        # With other places the types of vehicles decide it.
        if places is None and len(instance.unservable) == instance.size:
            raise FileError(
                f"{path}: customer 1 is {instance.unservable[1]}, and no other can be served, "
                f"expected demands up to the capacity {instance.capacity} and windows in which a "
                "vehicle can come and be back."
            )
        return instance

    def data(self) -> VRPLIBData:
        """Return the content of this instance's file, without coordinates from scaling."""
        known = {each.name: getattr(self, each.name) for each in fields(VRPLIBData)}
        known["coords"] = None if self.coords_from_scaling else self.coords / self.parts
        if self.windows is not None:
            known["windows"] = self.windows.changed(lambda times: times / self.parts)
        return VRPLIBData(**known)

    def at(self, nodes: Sequence[int] | IntArray, demands: IntArray) -> Self:
        """Return the instance of these nodes, the depot first, with these demands, not split."""
        rows = np.asarray(nodes)
        matrix, durations = (
            None if ways is None else np.ascontiguousarray(ways[np.ix_(rows, rows)])
            for ways in (self.matrix, self.durations)
        )
        windows, prizes = self.windows, self.prizes
        if windows is not None:
            windows = windows.changed(lambda times: times[rows])
        return replace(
            self,
            coords=self.coords[rows],
            demands=demands,
            matrix=matrix,
            durations=durations,
            windows=windows,
            prizes=None if prizes is None else prizes[rows],
            splits=False,
        )

    @property
    def size(self) -> int:
        """Number of customers."""
        return len(self.demands) - 1

    @property
    def parts(self) -> int:
        """Number of units of ``coords``, times and distances in one unit of the file."""
        return _parts(self.convention)

    @property
    def measure(self) -> Convention:
        """The convention that computes distances from ``coords``."""
        return Convention.FLOOR_2D if self.convention is Convention.DIMACS else self.convention

    @cached_property
    def spread(self) -> float:
        """Root mean square distance of all nodes from their centre."""
        return root_mean_square_radius(self.coords)

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Everything but distances that programs and the engine receive, by name."""
        found: dict[str, NDArray[Any]] = {
            "coords": self.coords,
            "demands": self.demands,
            "capacity": np.array([self.capacity]),
        }
        if self.windows is not None:
            found["ready_times"] = self.windows.ready
            found["due_times"] = self.windows.due
            found["service_times"] = self.windows.service
        if self.durations is not None:
            found[DURATIONS] = self.durations
        if self.fleet is not None:
            found["fleet"] = np.array([self.fleet])
        if self.prizes is not None:
            found["prizes"] = self.prizes * self.parts
        return {**found, **self.type_columns}

    @cached_property
    def unservable(self) -> Mapping[int, str]:
        """The customers that no vehicle can serve, in order, and why."""
        nodes, windows = np.arange(self.size + 1), self.windows
        heavy = np.zeros(len(nodes), bool) if self.splits else self.demands > self.capacity
        late = np.zeros(len(nodes), bool)
        if windows is not None:
            arrival = windows.ready[0] + self.lasting(self.start, nodes)
            start = np.maximum(arrival, windows.ready)
            back = 0.0 if self.open else self.lasting(nodes, self.end)
            returns = start + windows.service + back
            late = (start > windows.due) | (returns > windows.due[0])
            late[0] = False
        return {
            node: TOO_HEAVY if heavy[node] else OUT_OF_REACH
            for node in np.flatnonzero(heavy | late).tolist()
        }

    @property
    def limited(self) -> bool:
        """Whether vehicles have limits or prices, stops may be left out, or ways are directed.

        Only solving takes that.
        """
        prices = self.fixed_cost or self.prizes is not None or self.unservable
        limits = self.fleet or self.max_distance or self.max_duration or self.types
        return bool(prices or limits or self.directed)

    @cached_property
    def directed(self) -> bool:
        """Whether ways differ from the ways back or from their times, or routes are open."""
        if self.open or self.durations is not None:
            return True
        return self.matrix is not None and not np.array_equal(self.matrix, self.matrix.T)

    @property
    def kernel(self) -> Kernel:
        """The first arguments of compiled constructions."""
        times, windows = None, self.windows
        if windows is not None:
            times = windows.ready, windows.due, windows.service
        shape = distances_of(self.coords, self.measure, self.matrix)
        return Kernel(shape, self.demands, self.capacity, times)

    def whole_matrix(self, baseline: str, copies: int = 1) -> FloatArray:
        """Return all distances, for a baseline that holds so many matrices of this size.

        Raises
        ------
        NotEnoughMemory
            They would not fit; nothing was allocated.
        """
        who = f"The baseline {baseline} of {self.name}"
        return whole_matrix(self.coords, self.measure, self.matrix, who, copies)

    @property
    def sites(self) -> "VehicleInstance | Places":
        """The nodes, and the places if there are some: coordinates, distances and durations."""
        return self.places or self

    def lasting(self, starts: Any, ends: Any) -> FloatArray:
        """Return the travel times from nodes or places to others, whose indices broadcast."""
        ways = self.sites.durations
        if ways is None:
            return self.between(starts, ends)
        found: FloatArray = ways[starts, ends]
        return found

    def between(self, starts: Any, ends: Any) -> FloatArray:
        """Return the distances from nodes or places to others, whose indices broadcast."""
        sites = self.sites
        if sites.matrix is not None:
            found: FloatArray = sites.matrix[starts, ends]
            return found
        assert sites.coords is not None  # an instance has them
        return distances(sites.coords[starts], sites.coords[ends], self.measure)


def _parts(convention: Convention) -> int:
    return TENTHS if convention is Convention.DIMACS else 1
