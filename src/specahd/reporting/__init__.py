"""Reports from what runs have stored: read, aggregate, draw, write. No model, no search."""
