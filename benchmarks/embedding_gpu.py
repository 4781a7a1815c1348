"""Texts per second of the embedding server: one by one, by 64 clients, and in bulk.

    python benchmarks/embedding_gpu.py [--device cuda|cpu] [--texts N] [--characters N] [SIZE ...]

Makes models with random weights, of the sizes of the paper's three (``e5``, ``jina``, ``qwen``) or
smaller (``small``, ``tiny``), serves each by ``python -m specahd.embed`` and prints a row of the
table in docs/how-to/embeddings.md for each: texts per second, and the server's CPU time per text.
What it embeds are the functions of this project.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import psutil
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import (
    AutoModel,
    BertConfig,
    PreTrainedTokenizerFast,
    Qwen3Config,
    XLMRobertaConfig,
)

SOURCES = Path(__file__).parents[1] / "src"
CLIENTS = 64
BULK = 256
TOKENS = 512
# Some three characters to a token, as the models' own tokenizers need for code.
PIECE = r"\w{1,4}|\s+|."
QWEN: dict[str, Any] = {
    "hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072, "vocab_size": 151_669,
}  # fmt: skip
SIZES = {
    "tiny": BertConfig(
        hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512
    ),
    "small": BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    ),
    "e5": XLMRobertaConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
        vocab_size=250_002, max_position_embeddings=514,
    ),
    "jina": Qwen3Config(**QWEN),
    "qwen": Qwen3Config(**QWEN),
}  # fmt: skip


def make_model(folder: Path, size: str) -> int:
    """Write a model with random weights; return the number of its parameters."""
    torch.manual_seed(0)
    config = SIZES[size]
    model = AutoModel.from_config(config)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    plain = folder.with_name(f"{size}-plain")
    model.save_pretrained(plain)
    del model
    causal = isinstance(config, Qwen3Config)
    code = "\n".join(path.read_text() for path in SOURCES.rglob("*.py"))
    pieces = sorted(set(re.findall(PIECE, code)))
    vocabulary = {piece: i for i, piece in enumerate(["[PAD]", "[UNK]", *pieces])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex(PIECE), "isolated")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=TOKENS, pad_token="[PAD]", unk_token="[UNK]",
        padding_side="left" if causal else "right",
    ).save_pretrained(plain)  # fmt: skip
    pooling = Pooling(config.hidden_size, "lasttoken" if causal else "mean")
    SentenceTransformer(modules=[Transformer(str(plain)), pooling], device="cpu").save(str(folder))
    return parameters


@contextmanager
def served(folder: Path, size: str, device: str) -> Iterator[tuple[str, psutil.Process]]:
    """Serve a model; give the address and the process."""
    command = [
        sys.executable, "-m", "specahd.embed", f"models_dir={folder}", f"serve=[{size}]",
        f"+models={{{size}:{{}}}}", f"device={device}", "port=0",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            found = None
            while found is None and process.stdout is not None:
                found = re.search(r"http://\S+/v1", process.stdout.readline())
                if process.poll() is not None:
                    sys.exit(f"The server ended with {process.returncode}.")
            assert found is not None
            yield found[0], psutil.Process(process.pid)
        finally:
            process.terminate()


def functions(count: int) -> list[str]:
    """Return sources of functions of this project, in a fixed mixed order."""
    sources = []
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                sources.append(ast.unparse(node))
    # Neighbours in a file are alike in length; 7919 is a prime.
    mixed = [sources[i * 7919 % len(sources)] for i in range(count)]
    return [f"# {i}\n{source}" for i, source in enumerate(mixed)]


def measure(
    url: str, process: psutil.Process, size: str, texts: Sequence[str], clients: int, bulk: int
) -> tuple[float, float]:
    """Return texts per second of so many clients asking for so many texts, and CPU ms per text."""
    waiting = SimpleQueue[list[str]]()
    for start in range(0, len(texts), bulk):
        waiting.put(list(texts[start : start + bulk]))

    def client() -> None:
        # Bare, so that the clients take little of what is measured.
        connection = HTTPConnection(urlsplit(url).netloc, timeout=3600)
        while True:
            try:
                request = waiting.get_nowait()
            except Empty:
                return connection.close()
            body = {"model": size, "input": request, "encoding_format": "base64"}
            connection.request("POST", "/v1/embeddings", json.dumps(body))
            answer = connection.getresponse()
            if answer.status != 200:
                raise RuntimeError(answer.read().decode())
            answer.read()

    spent, begun = sum(process.cpu_times()[:2]), time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(client) for _ in range(clients)]:
            done.result()
    seconds = time.perf_counter() - begun
    return len(texts) / seconds, 1000 * (sum(process.cpu_times()[:2]) - spent) / len(texts)


def peak(process: psutil.Process, device: str, before: int) -> float:
    """Return the most memory that the server held, in GiB: of the device, or of the process."""
    if device == "cuda":
        # torch's allocator keeps what it once took.
        return (before - torch.cuda.mem_get_info()[0]) / 2**30
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help=", ".join(SIZES))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--texts", type=int, default=1024)
    parser.add_argument("--characters", type=int, help="cut every text to so many")
    arguments = parser.parse_args()
    sizes = arguments.sizes or ["e5", "jina", "qwen"]
    if unknown := set(sizes) - set(SIZES):
        parser.error(f"no size {', '.join(unknown)}; there are {', '.join(SIZES)}")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch sees no CUDA device here; use --device cpu")
    texts = [text[: arguments.characters] for text in functions(arguments.texts)]
    length = sum(map(len, texts)) // len(texts)
    print(f"{len(texts)} functions of {length} characters on average, {arguments.device}\n")
    print("| model | parameters | one by one | 64 clients | 256 at once | gain | peak GiB |")
    print("|---|---|---|---|---|---|---|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            parameters = make_model(Path(place) / size, size)
            before = torch.cuda.mem_get_info()[0] if arguments.device == "cuda" else 0
            with served(Path(place), size, arguments.device) as (url, process):
                # So that what is done once is done.
                measure(url, process, size, texts[:8], 1, 8)
                (one, *_), (many, *_), _ = results = [
                    measure(url, process, size, *how)
                    for how in ((texts, 1, 1), (texts, CLIENTS, 1), (texts, 1, BULK))
                ]
                held = peak(process, arguments.device, before)
        speeds = " | ".join(f"{speed:.1f} ({cpu:.0f} ms)" for speed, cpu in results)
        print(
            f"| {size} | {parameters / 1e6:.0f} M | {speeds} | {many / one:.1f} | {held:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
