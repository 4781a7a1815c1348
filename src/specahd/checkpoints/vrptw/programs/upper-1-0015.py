def select_customer_groups(preceding, following, route_of, neighbours, neighbour_distances, depot_distances, removal_gains, demands, capacity, ready_times, due_times, earliest_starts, latest_starts, exposures, noise, progress, max_groups, max_size):
    n = demands.shape[0] - 1
    k = neighbours.shape[1]
    nn = noise.shape[0]
    out = np.zeros(max_groups * (max_size + 1) + 2, np.int64)
    taken = np.zeros(n + 1, np.int64)
    members = np.zeros(max_size + 1, np.int64)
    seen = np.zeros(k + 2, np.int64)
    mean_demand = max(1e-09, float(capacity)) / 20.0
    pos = 0
    for g in range(max_groups):
        s = 1 + int(noise[32 * g % nn] * 2147483000.0)
        s = s * 16807 % 2147483647
        seed = 1 + s % n
        tries = 0
        while taken[seed] > 0 and tries < 8:
            s = s * 16807 % 2147483647
            seed = 1 + s % n
            tries += 1
        if taken[seed] > 0:
            continue
        tail = 1.0 - 0.93 * noise[(32 * g + 1) % nn]
        size = int(4.0 + 1.6 / tail + 4.0 * noise[(32 * g + 2) % nn])
        size = max(1, min(size, max_size))
        kind = noise[(32 * g + 3) % nn]
        m = 0
        if kind < 0.62:
            used = 0
            longest = max(2, min(10, (size + 1) * 2 // 3))
            for i in range(-1, k):
                if m >= size:
                    break
                c = seed
                if i >= 0:
                    c = neighbours[seed, i]
                if c < 1 or c > n:
                    continue
                if taken[c] > 0:
                    continue
                fresh = True
                for j in range(used):
                    if seen[j] == route_of[c]:
                        fresh = False
                        break
                if not fresh:
                    continue
                seen[used] = route_of[c]
                used += 1
                s = s * 16807 % 2147483647
                take = 1 + int(longest * (s / 2147483648.0))
                s = s * 16807 % 2147483647
                back = s % take
                left = c
                while back > 0 and preceding[left] > 0:
                    left = preceding[left]
                    back -= 1
                s = s * 16807 % 2147483647
                hole = 0
                if s % 2 == 0 and take > 2:
                    hole = 1 + s % 4
                s = s * 16807 % 2147483647
                at = 1 + s % max(1, take - 1)
                x = left
                count = 0
                while x > 0 and count < take and (m < max_size):
                    if count == at and hole > 0:
                        hole -= 1
                    else:
                        if taken[x] == 0:
                            members[m] = x
                            taken[x] = 1
                            m += 1
                        count += 1
                    x = following[x]
        else:
            keys = np.zeros(k, np.float64)
            scale = max(1e-09, neighbour_distances[seed, k - 1])
            for q in range(k):
                v = neighbours[seed, q]
                d = neighbour_distances[seed, q]
                s = s * 16807 % 2147483647
                u = s / 2147483647.0
                if kind < 0.78:
                    detour = removal_gains[v] - neighbour_distances[v, 0]
                    keys[q] = -detour * (0.3 + u) + 0.5 * d
                else:
                    wait = max(0.0, max(ready_times[v] - latest_starts[seed], ready_times[seed] - latest_starts[v]) - d)
                    apart = abs(earliest_starts[v] - earliest_starts[seed])
                    keys[q] = (d + 0.2 * min(apart, 1000000000.0) + 0.3 * min(wait, 1000000000.0)) * (0.4 + u)
                    if route_of[v] == route_of[seed]:
                        keys[q] += 0.05 * scale
            order = np.argsort(keys)
            members[0] = seed
            taken[seed] = 1
            m = 1
            for i in range(k):
                if m >= size:
                    break
                v = neighbours[seed, order[i]]
                if v < 1 or v > n:
                    continue
                if taken[v] > 0:
                    continue
                members[m] = v
                taken[v] = 1
                m += 1
        if m == 0:
            continue
        how = noise[(32 * g + 4) % nn]
        value_of = np.zeros(m, np.float64)
        far = max(1e-09, due_times[0] - ready_times[0])
        reach = 1e-09
        for j in range(m):
            reach = max(reach, depot_distances[members[j]])
        for j in range(m):
            c = members[j]
            s = s * 16807 % 2147483647
            u = s / 2147483647.0
            if how < 0.2:
                value_of[j] = u
            elif how < 0.36:
                value_of[j] = -demands[c] * (0.9 + 0.2 * u)
            elif how < 0.52:
                value_of[j] = -depot_distances[c] * (0.9 + 0.2 * u)
            elif how < 0.66:
                value_of[j] = (due_times[c] - ready_times[c]) * (0.9 + 0.2 * u)
            elif how < 0.76:
                value_of[j] = ready_times[c]
            else:
                value_of[j] = (due_times[c] - ready_times[c]) / far - 0.7 * depot_distances[c] / reach - 0.15 * demands[c] / mean_demand + 0.5 * u
        ranks = np.argsort(value_of)
        for j in range(m):
            out[pos] = members[ranks[j]]
            pos += 1
        pos += 1
    return out[:pos]
