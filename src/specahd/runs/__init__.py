"""The run directory: its files, reading and writing them, and which runs count."""
