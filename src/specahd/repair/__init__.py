"""Checked repair: merge, responses, repertoire, archive, router, and the frozen pipeline."""
