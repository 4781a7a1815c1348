def select_customer_groups(preceding, following, route_of, neighbours, neighbour_distances, depot_distances, removal_gains, demands, capacity, exposures, noise, progress, max_groups, max_size):
    customers = len(demands) - 1
    mean = 6.41
    stops = capacity / max(1e-09, demands[1:min(customers, 2000) + 1].mean())
    longest = int(max(2.0, min(17.9, stops)))
    most = min(max_size, 15)
    answer = np.zeros(max_groups * (most + 1), np.int64)
    keys = np.zeros(most)
    routes = np.zeros(20, np.int64)
    place = 0
    for group in range(max_groups):
        draw = 32 * group
        seed = 1
        lowest = np.inf
        for trial in range(6):
            node = 1 + int(noise[(draw + 29 * trial) % len(noise)] * customers)
            value = noise[node % len(noise)] * neighbour_distances[node, 0]
            if value < lowest:
                lowest = value
                seed = node
        strings = 1 + int(noise[draw + 1] * (4.0 * mean / (1.0 + longest) - 1.0))
        order = noise[draw + 2] * 11.0
        used = 0
        size = 0
        for near in range(-1, neighbours.shape[1]):
            if used == strings:
                break
            node = seed if near < 0 else neighbours[seed, near]
            route = route_of[node]
            known = False
            for other in range(used):
                if routes[other] == route:
                    known = True
            if known:
                continue
            routes[used] = route
            ahead = 0
            first = node
            while ahead < longest and preceding[first] != 0:
                first = preceding[first]
                ahead += 1
            behind = 0
            last = node
            while behind < longest and following[last] != 0:
                last = following[last]
                behind += 1
            whole = ahead + 1 + behind
            length = 1 + int(noise[draw + 3 + 4 * used % 24] * min(longest, whole))
            skipped = 0
            if 1 < length < whole and noise[draw + 5 + 4 * used % 24] < 0.25:
                skipped = 1
            span = length + skipped
            least = max(0, span - 1 - behind)
            choices = min(span - 1, ahead) - least + 1
            begin = ahead - least - int(noise[draw + 4 + 4 * used % 24] * choices)
            spared = -1
            if skipped > 0:
                spared = begin + 1 + int(noise[draw + 6 + 4 * used % 24] * (span - 2))
            used += 1
            here = first
            for step in range(begin + span):
                if step >= begin and step != spared and (size < most):
                    answer[place + size] = here
                    size += 1
                here = following[here]
        for member in range(size):
            node = answer[place + member]
            if order < 4.0:
                keys[member] = noise[node % len(noise)]
            elif order < 8.0:
                keys[member] = -depot_distances[node] if noise[-50 - group] < 0.974 else -neighbour_distances[node, -1]
            elif order < 10.0:
                keys[member] = noise[draw + (7 * member + 5) % 32]
            else:
                keys[member] = noise[draw + (7 * member + 5) % 32]
        for member in range(1, size):
            node = answer[place + member]
            key = keys[member]
            slot = member
            while slot > 0 and keys[slot - 1] > key:
                keys[slot] = keys[slot - 1]
                answer[place + slot] = answer[place + slot - 1]
                slot -= 1
            keys[slot] = key
            answer[place + slot] = node
        place += size + 1
    return answer[:place]
