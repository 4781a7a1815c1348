"""Loops over customers, compiled by numba and cached on disk.

numba's cache knows only the file of the outer function: after a change in a
kernel that others call, remove ``__pycache__`` here.
"""
