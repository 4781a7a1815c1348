def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    last = len(detours) - 1
    u = noise[last]
    best = last
    cost = detours[last]
    if u > 0.5:
        cost = cost * (1.0 - (u - 0.5) * (0.5 + demand / capacity))
    for i in range(last):
        if detours[i] < cost and noise[i] >= 0.08:
            cost = detours[i]
            best = i
    return best
