Route #1: 1 3
Route #2: 2 4
Route #3: 5
Cost 206
