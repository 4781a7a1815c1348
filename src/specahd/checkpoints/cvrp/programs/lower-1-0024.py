def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    b1 = np.inf
    b2 = np.inf
    i1 = 0
    i2 = 0
    for i in range(detours.shape[0]):
        d = detours[i]
        if d < b1:
            b2 = b1
            i2 = i1
            b1 = d
            i1 = i
        elif d < b2:
            b2 = d
            i2 = i
    s = 0.25 * distances[i1]
    if noise[i1] * (s + b2 - b1) < 0.45 * s:
        return i2
    return i1
