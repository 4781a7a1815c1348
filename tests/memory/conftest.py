import pytest


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory):
    """A folder of three small encoders: ``bert``, ``other`` (another seed) and ``qwen``."""
    for library in ("fastapi", "sentence_transformers", "torch", "uvicorn"):
        pytest.importorskip(library, reason=f"{library} is missing: pip install 'specahd[embed]'")
    from tiny_model import make_model

    folder = tmp_path_factory.mktemp("models")
    make_model(folder / "bert")
    make_model(folder / "other", seed=1)
    make_model(folder / "qwen", causal=True)
    return folder
