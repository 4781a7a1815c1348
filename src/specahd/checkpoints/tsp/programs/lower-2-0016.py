def select_position(detours, distances, edges, noise, removal_gain, progress):
    best = len(detours) - 1
    least = np.inf
    for position in range(len(detours)):
        if noise[position] < 0.0278:
            continue
        value = detours[position] + 0.481 * removal_gain * noise[position] + 0.0964 * detours[position] + 0.481 * removal_gain * noise[position]
        if value < least:
            least = value
            best = position
    return best
