def select_customer_groups(preceding, following, route_of, neighbours, neighbour_distances, depot_distances, removal_gains, demands, capacity, ready_times, due_times, earliest_starts, latest_starts, exposures, noise, progress, max_groups, max_size):
    n = demands.shape[0] - 1
    out = np.zeros(max_groups * (max_size + 1) + 2, np.int64)
    taken = np.zeros(n + 1, np.int64)
    keys = np.zeros(max_size + 1, np.float64)
    routes = np.zeros(3, np.int64)
    place = 0
    for group in range(max_groups):
        draw = 32 * group
        state = 1 + int(noise[draw] * 2147483000.0)
        seed = min(n, 1 + int(noise[draw + 1] * n))
        strings = 2 + int(noise[draw + 2] * 2.0)
        order = noise[draw + 3]
        used = 0
        size = 0
        for near in range(-1, neighbours.shape[1]):
            if used >= strings:
                break
            node = seed
            if near >= 0:
                node = neighbours[seed, near]
            if node < 1 or taken[node] > 0:
                continue
            known = False
            for other in range(used):
                if routes[other] == route_of[node]:
                    known = True
            if known:
                continue
            routes[used] = route_of[node]
            used += 1
            state = state * 16807 % 2147483647
            length = 1 + state % 10
            state = state * 16807 % 2147483647
            gap = 0
            if state < 1073741823 and length > 1:
                gap = 1 + state % length
            state = state * 16807 % 2147483647
            ahead = state % length
            state = state * 16807 % 2147483647
            where = 1 + state % max(1, length - 1)
            here = node
            while ahead > 0 and preceding[here] > 0:
                here = preceding[here]
                ahead -= 1
            step = 0
            while here > 0 and step < length + gap:
                if (step < where or step >= where + gap) and size < max_size and (taken[here] == 0):
                    out[place + size] = here
                    taken[here] = 1
                    size += 1
                step += 1
                here = following[here]
        if size == 0:
            continue
        for member in range(size):
            node = out[place + member]
            state = state * 16807 % 2147483647
            chance = 0.9 + 0.2 * state / 2147483647.0
            if order < 0.3:
                keys[member] = chance
            elif order < 0.55:
                keys[member] = -demands[node] * chance
            elif order < 0.8:
                keys[member] = -depot_distances[node] * chance
            else:
                keys[member] = (due_times[node] - ready_times[node]) * chance
        ranks = np.argsort(keys[:size])
        out[place:place + size] = out[place:place + size][ranks]
        place += size + 1
    return out[:place]
