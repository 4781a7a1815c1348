def select_position(detours, distances, edges, noise, removal_gain, progress):
    return int(np.argmin(detours + 1000000.0 * (noise < 0.165)))
