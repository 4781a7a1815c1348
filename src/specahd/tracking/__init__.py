"""Observers of a run: a tracker and a progress display. None of them can make it fail."""
