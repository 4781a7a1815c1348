"""SpecAHD: localize to specialize for automated heuristic design in routing."""

__version__ = "0.1.0"
