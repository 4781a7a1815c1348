"""Generation memory: a search's record of earlier programs, used for new ones."""
