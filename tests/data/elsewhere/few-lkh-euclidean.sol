Solution results
================
    # routes: 2
   objective: 1576

Routes
------
Route #1: C0 C1
Route #2: C2 C3
