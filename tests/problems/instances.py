"""Small instances of every problem, made of the same columns."""

import numpy as np

from specahd.problems.tsp.instance import TSPInstance
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention, distances
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Delivery

VEHICLES = ["cvrp", "sdvrp", "vrptw"]
HEAP = np.zeros((4, 2))
"""Nodes that are all in one place."""
# Customers at 10, 20, ... on a line from the depot; one of the SDVRP outweighs a vehicle.
LINES = {
    "cvrp": ([0, 2, 3, 2, 4, 1], 5),
    "sdvrp": ([0, 2, 4, 3, 7], 5),
    "vrptw": ([0, 2, 3, 2, 4], 7),
    "tsp": ([0] * 6, 0),
}
TIMES = {
    "ready": np.array([0.0, 0, 30, 60, 0]),
    "due": np.array([100.0, 80, 50, 60, 55]),
    "service": np.array([0.0, 5, 5, 5, 5]),
}


def instance_of(name, coords, demands=None, capacity=10, **more):
    """Return an instance; what its problem does not have is left out.

    Demands are 1, and windows wide, unless they are given.
    """
    coords = np.array(coords, float)
    still = np.zeros(len(coords))
    times = {"ready": still, "due": np.full(len(coords), 99.0), "service": still}
    times = {field: more.pop(field, usual) for field, usual in times.items()}
    if name == "tsp":
        return TSPInstance("x", coords, **more)
    demands = np.array([0] + [1] * (len(coords) - 1) if demands is None else demands)
    if name == "vrptw":
        more["windows"] = TimeWindows(**times)
    return VehicleInstance("x", coords, demands, capacity, splits=name == "sdvrp", **more)


def line(name, **changes):
    """Return the nodes on a line; some times of the VRPTW may be others."""
    demands, capacity = LINES[name]
    times = {**TIMES, **changes} if name == "vrptw" else {}
    return instance_of(name, [(10 * i, 0) for i in range(len(demands))], demands, capacity, **times)


def random_instance(name, rng, convention=Convention.EUC_2D):
    """Return an instance of whole numbers, whose windows lie anywhere."""
    customers = int(rng.integers(5, 40))
    coords = rng.integers(0, 100, (customers + 1, 2)).astype(float)
    demands = rng.integers(1, 25, customers) if name == "sdvrp" else rng.integers(0, 9, customers)
    away = np.ceil(np.hypot(*(coords - coords[0]).T))
    service = rng.integers(0, 9, customers + 1)
    service[0] = 0
    closing = int(2 * away.max() + 8 + rng.integers(0, 200))
    ready = rng.integers(0, closing - service - 2 * away + 1)
    latest = np.maximum(ready, away) + rng.integers(0, 60, customers + 1)
    due = np.minimum(latest, closing - service - away)
    ready[0], due[0] = 0, closing
    unit = 10 if convention is Convention.DIMACS else 1
    times = {"ready": ready, "due": due, "service": service}
    times = {field: unit * values.astype(float) for field, values in times.items()}
    capacity = int(rng.integers(9, 30))
    return instance_of(name, unit * coords, [0, *demands], capacity, convention=convention, **times)


def plan(*routes):
    """Return a solution of the SDVRP."""
    return tuple(tuple(Delivery(*stop) for stop in route) for route in routes)


def matrix_of(instance):
    """Return the distances of an instance, all measured at once."""
    if instance.matrix is not None:
        return instance.matrix
    measure = getattr(instance, "measure", instance.convention)
    return distances(instance.coords[:, None], instance.coords[None], measure)
