"""Generation memory: what a search remembers to spare itself repetition."""
