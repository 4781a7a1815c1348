"""Checkpoints: trained programs with their archive of responses, as a directory of plain files."""
