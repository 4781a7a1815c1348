"""What spoils routes, a list of lists, at random: the checkers are tried on them.

``stop`` makes of a node what a route holds.
"""


def drop(routes, rng, size, stop):
    route = routes[rng.integers(len(routes))]
    if route:
        route.pop(rng.integers(len(route)))


def duplicate(routes, rng, size, stop):
    insert(routes, rng, stop(int(rng.integers(1, size + 1))))


def swap(routes, rng, size, stop):
    first, second = (routes[rng.integers(len(routes))] for _ in range(2))
    if first and second:
        i, j = rng.integers(len(first)), rng.integers(len(second))
        first[i], second[j] = second[j], first[i]


def move(routes, rng, size, stop):
    route = routes[rng.integers(len(routes))]
    if route:
        insert(routes, rng, route.pop(rng.integers(len(route))))


def reverse(routes, rng, size, stop):
    routes[rng.integers(len(routes))].reverse()


def join(routes, rng, size, stop):
    if len(routes) > 1:
        moved = routes.pop(rng.integers(len(routes)))
        routes[rng.integers(len(routes))].extend(moved)


def depot_inside(routes, rng, size, stop):
    insert(routes, rng, stop(0))


def stranger(routes, rng, size, stop):
    insert(routes, rng, stop(int(rng.choice([-(2**40), -1, size + 1, 2**40]))))


def empty(routes, rng, size, stop):
    routes.insert(rng.integers(len(routes) + 1), [])


def insert(routes, rng, new):
    route = routes[rng.integers(len(routes))]
    route.insert(rng.integers(len(route) + 1), new)


OF_A_TOUR = [drop, duplicate, swap, move, reverse, depot_inside, stranger]
CORRUPTIONS = [*OF_A_TOUR, join, empty]
