"""The EoH variation operators that both levels use (baselines.md section 4)."""

PARENTS = {"i1": 0, "e1": 2, "e2": 2, "m1": 1, "m2": 1, "m3": 1}
"""How many parents each operator shows.

i1 asks for a fresh program, e1 for one of a different form than its parents, e2
for one on the backbone that they share; m1 for a modified form, m2 for other
parameter settings, m3 for a simplification.
"""

INITIAL = "i1"
VARIATIONS = tuple(name for name in PARENTS if name != INITIAL)
MUTATIONS = ("m1", "m2", "m3")
"""Those that vary one program; only they are told what earlier changes have shown."""
