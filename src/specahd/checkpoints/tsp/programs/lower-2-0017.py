def select_position(detours, distances, edges, noise, removal_gain, progress):
    best = 0
    least = np.inf
    for position in range(len(detours)):
        if detours[position] * (1.0 + 0.742 * (noise[position] * (detours[position] / (detours[position] + removal_gain + 1e-09)))) < least and noise[position] >= 0.01:
            least = detours[position] * (1.0 + 0.742 * (noise[position] * (detours[position] / (detours[position] + removal_gain + 1e-09))))
            best = position
    return best
