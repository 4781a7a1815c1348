"""Sentence encoders with random weights, small enough to be made where a test needs one."""

import string
from pathlib import Path


def make_model(folder: Path, seed: int = 0, dimension: int = 32, causal: bool = False) -> Path:
    """Write an encoder and return its folder; one seed gives one model.

    ``causal`` makes a small Qwen3 (last-token pooling, padded on the left) instead of a small BERT
    (mean pooling). Both read 128 tokens, one for each character.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, Qwen3Config, Qwen3Model

    torch.manual_seed(seed)
    tokenizer = make_tokenizer("left" if causal else "right")
    size = {
        "vocab_size": len(tokenizer),
        "hidden_size": dimension,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 2 * dimension,
        "max_position_embeddings": 128,
    }
    if causal:
        model = Qwen3Model(Qwen3Config(**size, num_key_value_heads=2, head_dim=dimension // 4))
    else:
        # The usual spread of 0.02 leaves a network so small next to linear, and all texts alike.
        model = BertModel(BertConfig(**size, initializer_range=0.3))
    plain = folder.with_name(f"{folder.name}-plain")
    model.save_pretrained(plain)
    tokenizer.save_pretrained(plain)
    pooling = Pooling(dimension, "lasttoken" if causal else "mean")
    SentenceTransformer(modules=[Transformer(str(plain)), pooling], device="cpu").save(str(folder))
    return folder


def make_tokenizer(padding_side: str):
    """Return a tokenizer that knows every printable character of ASCII."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {token: i for i, token in enumerate([*special, *string.printable])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=128,
        padding_side=padding_side,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
