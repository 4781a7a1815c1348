"""Generation memory: what a search remembers of the programs it was given, for new ones."""
