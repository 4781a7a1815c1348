def select_position(detours, distances, rests, quantities, noise, demand, depot_distance, capacity, progress):
    last = len(detours) - 1
    best = last
    least = detours[last]
    first = -1
    spent = 0.0
    lacking = demand
    cheapest = np.inf
    taken = np.zeros(last + 1)
    while lacking > 0.0 and spent < least:
        part = -1
        lowest = np.inf
        for position in range(last):
            if taken[position] > 0.0 or noise[position] < 0.0216:
                continue
            quantity = min(lacking, rests[position] + quantities[position])
            if detours[position] < lowest * quantity:
                lowest = detours[position] / quantity
                part = position
            if quantity == lacking and spent + detours[position] < least:
                least = spent + detours[position]
                best = position if first < 0 else first
        if part < 0:
            break
        if first < 0:
            first = part
            cheapest = lowest
        taken[part] = 1.0
        spent += detours[part]
        lacking -= min(lacking, rests[part] + quantities[part])
    if best == last and cheapest * capacity < noise[last] * detours[last]:
        best = first
    return best
