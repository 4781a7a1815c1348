def select_position(detours, distances, rests, slacks, shifts, noise, demand, depot_distance, capacity, progress):
    last = len(detours) - 1
    best = last
    least = np.inf
    for position in range(last + 1):
        if detours[position] < least and noise[position] >= 0.01:
            least = detours[position]
            best = position
    return best
