"""Search methods, one policy each."""
