def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    m = detours.shape[0]
    best = -1
    best_cost = np.inf
    w = 0.18 * depot_distance / capacity
    for i in range(m):
        d = detours[i]
        if d < best_cost and noise[i] >= 0.18:
            r = rests[i]
            c = d
            if r < demand:
                c = d + w * r
            else:
                c = d + w * demand
            if c < best_cost:
                best_cost = c
                best = i
    if best < 0:
        best = m - 1
    return best
