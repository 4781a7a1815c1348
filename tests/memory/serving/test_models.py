"""Finding and loading encoders, and what they make of texts."""

import json
import shutil

import numpy as np
import pytest

from specahd.core.errors import ConfigError, FileError
from specahd.memory.serving.models import ModelFolder, choose_device, find_model_folder, load

TEXTS = ["Sort by angle.", "a", "def f(distance): return distance[0] + 1", "x" * 90, "y" * 500]


@pytest.fixture(scope="module")
def encode(tiny_models):
    """Embed texts by a model, with the options of its folder."""
    loaded = {}

    def encode(texts, name="bert", **options):
        key = (name, *options.items())
        if key not in loaded:
            loaded[key] = load(ModelFolder(name, tiny_models / name, **options), "cpu")
        return loaded[key].embed(texts)

    return encode


def test_a_model_is_found_by_path_by_name_and_by_the_name_without_its_owner(tmp_path):
    for name in ("owner/one", "two", "three"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
    assert find_model_folder(tmp_path, "owner/one") == tmp_path / "owner" / "one"
    assert find_model_folder(tmp_path, "owner/two") == tmp_path / "two"
    assert find_model_folder(tmp_path, "four", "three") == tmp_path / "three"
    with pytest.raises(FileError, match=r"four is not there: no folder .*five;"):
        find_model_folder(tmp_path, "four", "five")
    (tmp_path / "six").mkdir()
    with pytest.raises(FileError, match="six is no model: it has neither"):
        find_model_folder(tmp_path, "six")


@pytest.mark.parametrize("name", ["bert", "qwen"])
@pytest.mark.parametrize("prefix", ["", "Query: "])
def test_vectors_are_those_of_sentence_transformers(tiny_models, encode, name, prefix):
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(tiny_models / name), device="cpu", local_files_only=True)
    expected = reference.encode(TEXTS, prompt=prefix, normalize_embeddings=True)
    vectors, tokens = encode(TEXTS, name, prefix=prefix)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
    # A token for each character, one at either end, and no more than the model reads.
    assert tokens == [min(len(prefix + text) + 2, 128) for text in TEXTS]


@pytest.mark.parametrize("name", ["bert", "qwen"])
def test_a_text_has_one_vector_whatever_is_in_its_batch(encode, name):
    vectors, _ = encode(TEXTS, name)
    alone = np.concatenate([encode([text], name)[0] for text in TEXTS])
    np.testing.assert_allclose(vectors, alone, rtol=0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    # The tolerance tells texts apart.
    gaps = np.linalg.norm(alone[:, None] - alone[None], axis=2)[np.triu_indices(len(TEXTS), 1)]
    assert gaps.min() > 0.01


def test_the_prefix_and_the_limit_of_tokens_change_the_vector(encode):
    [plain], _ = encode(["Sort by angle."])
    [instructed], _ = encode(["Sort by angle."], prefix="Query: ")
    assert np.linalg.norm(plain - instructed) > 0.01
    [first, second], tokens = encode(["Sort by angle.", "Sort by demand."], max_tokens=10)
    assert tokens == [10, 10]
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-6)


def test_a_cut_text_is_told_of_once(tiny_models, caplog):
    encoder = load(ModelFolder("bert", tiny_models / "bert"), "cpu")
    encoder.embed(["a" * 125])
    assert caplog.messages == []
    for _ in range(2):
        encoder.embed(["a" * 200])
    assert caplog.messages == ["bert reads 128 tokens; a text is cut there."]


def truncate(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])


def remove_weights(folder):
    (folder / "model.safetensors").unlink()


def remove_tokenizer(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()


def tear_config(folder):
    (folder / "config.json").write_text('{"model_type":')


def unknown_architecture(folder):
    (folder / "config.json").write_text('{"model_type": "unheard-of"}')


def another_shape(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 64}))


def code_of_its_own(folder):
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "modeling.Encoder"
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "modeling.py").write_text("raise SystemExit('it ran')\n")


def no_number(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][:] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


SPOILT = [
    truncate, remove_weights, remove_tokenizer, tear_config, unknown_architecture, another_shape,
    code_of_its_own, no_number,
]  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_folder_that_is_no_model_gets_one_sentence(tiny_models, tmp_path, spoil):
    folder = shutil.copytree(tiny_models / "bert", tmp_path / "bad")
    spoil(folder)
    with pytest.raises(FileError, match="bad is no model that can be loaded: ") as refusal:
        load(ModelFolder("bad", folder), "cpu")
    assert len(str(refusal.value).splitlines()) == 1


def test_a_limit_that_the_prefix_fills_is_refused(tiny_models):
    model = ModelFolder("bert", tiny_models / "bert", prefix="Query: ", max_tokens=10)
    with pytest.raises(ConfigError, match="max_tokens of bert above the 10 tokens of its prefix"):
        load(model, "cpu")


def test_a_device_that_is_not_there_is_refused(tiny_models):
    import torch

    if torch.cuda.is_available():
        assert choose_device("auto") == choose_device("cuda") == "cuda"
    else:
        assert choose_device("auto") == "cpu"
        with pytest.raises(ConfigError, match="device"):
            choose_device("cuda")
    assert choose_device("cpu") == "cpu"
