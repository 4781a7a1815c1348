def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    m = detours.shape[0]
    best = m - 1
    u = noise[m - 1]
    best_cost = detours[m - 1]
    if u < 0.3:
        best_cost *= 0.4 + 2.0 * u
    for i in range(m - 1):
        if detours[i] < best_cost and noise[i] >= 0.07:
            best_cost = detours[i]
            best = i
    return best
