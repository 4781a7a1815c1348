"""Rows of frozen evaluations: written, read and averaged; their files; the routing study."""
