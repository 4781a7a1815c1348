"""What the tests of embeddings share: programs, and a memory in a hurry."""

from specahd.core.program import Level, Program
from specahd.memory.embedding import embedded

MODELS = {"first": "small", "second": "large"}
QUICK = {"timeout": 5.0, "attempts": 3, "backoff": 0.01, "patience": 0.05}


def program(index, source=None, idea="Take the nearest."):
    source = (
        source or f"def f(a, b):\n    return sorted(a, key=lambda k: k * {index})[{index} % b]\n"
    )
    return Program(f"lower-1-{index:04}", Level.LOWER, source, idea, "i1", contract="append")


def memory(fake_server, **options):
    given = {"models": MODELS, "base_url": fake_server.url, "filter": True, "skills": 0}
    given |= {"fuse": len(options.get("models", MODELS)), "threshold": 0.995} | QUICK
    return embedded(**(given | options))
