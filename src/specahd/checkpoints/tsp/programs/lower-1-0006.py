def select_position(detours, distances, edges, noise, removal_gain, progress):
    best = len(detours) - 1
    least = np.inf
    for position in range(len(detours)):
        if noise[position] < 0.00393:
            continue
        value = detours[position]
        if value < least:
            least = value
            best = position
    return best
