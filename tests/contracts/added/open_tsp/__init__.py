"""A problem as a user would add it: this folder, and one file in conf/problem."""
