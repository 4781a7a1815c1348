"""The compiled tier: which programs numba compiles, how, and what they check."""
