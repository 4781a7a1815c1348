"""Reports on stored runs: read, aggregate, draw, write. They need no model and no search."""
