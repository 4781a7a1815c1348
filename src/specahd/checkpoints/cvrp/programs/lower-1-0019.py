def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    best = len(detours) - 1
    cost = detours[best]
    for i in range(best):
        if noise[i] >= 0.12 and detours[i] < cost:
            cost = detours[i]
            best = i
    return best
