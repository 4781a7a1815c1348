"""Proposers of programs: the offline grammar, language models, cassettes; and parsing."""
