"""The travelling salesman problem.

This file imports nothing: the sandbox child imports ``construct`` from this package
and must not spend time on modules that only the trusted process needs.
"""
