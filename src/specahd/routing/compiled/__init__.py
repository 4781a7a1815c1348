"""The compiled tier: its language, its compilation by numba, and its checks at run time."""
