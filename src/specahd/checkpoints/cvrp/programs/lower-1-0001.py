def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    blink = 0.12 - 0.09 * progress
    best = -1
    cost = math.inf
    for i in range(len(detours)):
        if detours[i] < cost and noise[i] >= blink:
            cost = detours[i]
            best = i
    return best
