def select_position(detours, distances, rests, quantities, noise, demand, depot_distance, capacity, progress):
    best = len(detours) - 1
    least = np.inf
    for position in range(len(detours)):
        if noise[position] < 0.247:
            continue
        value = detours[position]
        if value < least:
            least = value
            best = position
    return best
