"""What spoils routes, a list of lists, at random: the checkers of vehicles are tried on them."""


def drop(routes, rng, size):
    route = routes[rng.integers(len(routes))]
    if route:
        route.pop(rng.integers(len(route)))


def duplicate(routes, rng, size):
    insert(routes, rng, int(rng.integers(1, size + 1)))


def swap(routes, rng, size):
    first, second = (routes[rng.integers(len(routes))] for _ in range(2))
    if first and second:
        i, j = rng.integers(len(first)), rng.integers(len(second))
        first[i], second[j] = second[j], first[i]


def move(routes, rng, size):
    route = routes[rng.integers(len(routes))]
    if route:
        insert(routes, rng, route.pop(rng.integers(len(route))))


def reverse(routes, rng, size):
    routes[rng.integers(len(routes))].reverse()


def join(routes, rng, size):
    if len(routes) > 1:
        moved = routes.pop(rng.integers(len(routes)))
        routes[rng.integers(len(routes))].extend(moved)


def depot_inside(routes, rng, size):
    insert(routes, rng, 0)


def stranger(routes, rng, size):
    insert(routes, rng, unknown(rng, size))


def empty(routes, rng, size):
    routes.insert(rng.integers(len(routes) + 1), [])


def insert(routes, rng, stop):
    route = routes[rng.integers(len(routes))]
    route.insert(rng.integers(len(route) + 1), stop)


def unknown(rng, size):
    """Return a customer that does not exist."""
    return int(rng.choice([-(2**40), -1, size + 1, 2**40]))


CORRUPTIONS = [drop, duplicate, swap, move, reverse, join, depot_inside, stranger, empty]
