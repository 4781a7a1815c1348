def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    m = detours.shape[0]
    u = noise[m - 1]
    t = 0.3 * u * u
    best = m - 1
    best_cost = detours[m - 1]
    if u > 0.9:
        best_cost = 0.7 * best_cost
    for i in range(m - 1):
        d = detours[i]
        if d < best_cost:
            v = noise[i]
            if v < 0.92:
                c = d + t * v * (0.6 * depot_distance + distances[i])
                if c < best_cost:
                    best_cost = c
                    best = i
    return best
