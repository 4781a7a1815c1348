"""One folder per routing problem; listing them is the registry."""
