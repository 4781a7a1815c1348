import os

import pytest

from specahd.llm.keys import KEY_FILE


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    """Hide what openai and its transport read; a loopback address needs no proxy."""
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.lower().endswith("_proxy") or name == KEY_FILE:
            monkeypatch.delenv(name)
