def select_position(detours, distances, rests, quantities, noise, demand, depot_distance, capacity, progress):
    last = len(detours) - 1
    best = last
    least = np.inf
    for position in range(last + 1):
        if position == last and least < np.inf:
            break
        if (detours[position] + 0.0313 * depot_distance * noise[position]) / quantities[position] < least and noise[position] >= 0.0104:
            least = (detours[position] + 0.0313 * depot_distance * noise[position]) / quantities[position]
            best = position
    return best
