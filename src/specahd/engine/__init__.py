"""The engine of the repair operator ``insertion``: compiled passes over one solution.

Nothing is imported here: the sandbox child reads the loops from this package, and must not spend
time on imports that only the trusted side needs.
"""
