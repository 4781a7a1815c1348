"""Those who write programs: the offline grammar, language models, cassettes; and parsing."""
