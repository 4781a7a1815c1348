def select_position(detours, distances, rests, noise, demand, depot_distance, capacity, progress):
    scale = 0.5 - 0.3 * progress
    best = 0
    cost = math.inf
    for i in range(len(detours)):
        d = detours[i]
        if d < cost:
            u = noise[i]
            c = d + scale * u * u * u * (distances[i] + 0.5 * abs(d))
            if c < cost:
                cost = c
                best = i
    return best
