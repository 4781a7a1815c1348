def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    m = detours.shape[0]
    best = m - 1
    best_cost = detours[m - 1]
    for i in range(m - 1):
        d = detours[i]
        if d < best_cost:
            g = best_cost - d
            s = 0.5 * (distances[i] + d)
            if noise[i] * (g + s) >= 0.25 * s:
                best_cost = d
                best = i
    return best
