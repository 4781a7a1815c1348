"""Loops over customers, compiled by numba and cached on disk."""
