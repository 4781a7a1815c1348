"""A problem that is trained and solved, as a user would add it: this folder, and one yaml."""
