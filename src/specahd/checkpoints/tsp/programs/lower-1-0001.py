def select_position(detours, distances, edges, noise, removal_gain, progress):
    best = 0
    least = np.inf
    for position in range(len(detours)):
        if detours[position] < least and noise[position] >= 0.0606:
            least = detours[position]
            best = position
    return best
