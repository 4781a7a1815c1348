def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    m = detours.shape[0]
    b1 = detours[0]
    i1 = 0
    for i in range(1, m):
        if detours[i] < b1:
            b1 = detours[i]
            i1 = i
    if noise[i1] < 0.5:
        return i1
    s = 0.2 * (distances[i1] + b1) + 0.02 * depot_distance + 1e-09
    cum = 1.0
    chosen = i1
    lim = b1 + 2.0 * s
    for i in range(m):
        d = detours[i]
        if d < lim and i != i1:
            q = s / (s + d - b1)
            q = q * q
            w = q * q * (1.0 - 0.3 * rests[i] / capacity)
            cum += w
            if noise[i] * cum < w:
                chosen = i
    return chosen
