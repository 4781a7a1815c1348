"""What the tests of all packages share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The machines are noisy, and the first call of a kernel may compile it.
settings.register_profile("specahd", deadline=None)
settings.load_profile("specahd")

ROOT = Path(__file__).parent.parent

# Fixtures that need torch (the extra `embed`), PostgreSQL, and Chromium; without it they skip.
EXTRAS = {"tiny_models", "database", "browser"}


@pytest.hookimpl(tryfirst=True)  # before pytest looks at -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that ``make test-extras`` runs."""
    for item in items:
        if EXTRAS & set(getattr(item, "fixturenames", ())):
            item.add_marker("extras")


@pytest.fixture(scope="session")
def data() -> Path:
    """Small instances written by hand."""
    return ROOT / "tests" / "data"


@pytest.fixture(scope="session")
def public() -> Path:
    """The downloaded public instances; skips where they are missing."""
    folder = Path(os.environ.get("SPECAHD_PUBLIC", ROOT.parent / "shared" / "public"))
    if not (folder / "bks.csv").is_file():
        pytest.skip(f"no public instances in {folder}; set SPECAHD_PUBLIC to their folder")
    return folder
