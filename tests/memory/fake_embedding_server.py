"""A loopback server of embeddings that misbehaves on purpose: words counted, without weights.

python tests/memory/fake_embedding_server.py --port P --noise 0.001
"""

import argparse
import json
import re
import sys
import threading
import time
from hashlib import blake2b
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    # What the suites share lies one folder up; pytest finds it by itself.
    sys.path.append(str(Path(__file__).parent.parent))

from loopback import LoopbackHandler, LoopbackServer

FAULTS = (
    *("503", "no data", "missing", "twice", "no index", "ragged", "words", "null", "nan", "huge"),
    *("zero", "longer"),
)
"""Ways to give no vectors, or not those that were asked for."""
REFUSALS = {
    "400": "the text is too long; sent with {key}",
    "401": "Incorrect API key provided: {key}",
    "404": "The model does not exist",
    "500": "The server had an error, {key}",
    "503": "Loading",
}
DIMENSION = 128


def vector(model, text):
    """Count the words of a text; similar texts get similar vectors, and models their own."""
    counts = np.ones(DIMENSION)
    for word in re.findall(r"\w+|[^\w\s]", text):
        digest = blake2b(f"{model} {word}".encode(errors="replace"), digest_size=4).digest()
        counts[int.from_bytes(digest) % DIMENSION] += 1
    return counts


class FakeEmbeddingServer(LoopbackServer):
    """Speaks for an embedding model.

    The first requests for vectors meet ``faults``, in order; all wait for ``latency`` seconds.
    """

    def __init__(
        self, *faults, key=None, models=("small", "large"), lists=True, latency=0.0,
        noise=0.0, dimension=DIMENSION, port=0,
    ):  # fmt: skip
        super().__init__(Handler, port, key)
        self.faults = list(faults)
        self.models = models
        self.lists = lists
        self.latency = latency
        self.noise = np.random.default_rng(), noise
        self.dimension = dimension
        self.asked = []
        """The requests for vectors: body, headers, and what was done."""
        self.embedded = []
        """Every (model, text) that got its vector, in order."""
        self.busy = self.busiest = 0
        self.lock = threading.Lock()

    @property
    def behaviours(self):
        return [behaviour for _, _, behaviour in self.asked]

    def take(self, body, headers):
        with self.lock:
            behaviour = self.faults.pop(0) if self.faults else "good"
            self.asked.append((body, headers, behaviour))
        return behaviour

    def vectors(self, model, texts):
        rng, noise = self.noise
        with self.lock:
            rows = np.array([vector(model, text) for text in texts])[:, : self.dimension]
            rows *= 1 + noise * rng.standard_normal(rows.shape)
        return rows.tolist()


class Handler(LoopbackHandler):
    """Plays one connection."""

    def do_GET(self):
        if not self._admitted():
            return
        if self.path == "/v1/models" and self.server.lists:
            self._json(200, {"data": [{"id": name} for name in self.server.models]})
        else:
            self._json(404, {"detail": "Not Found"})

    def do_POST(self):
        body = json.loads(self._body())
        if not self._admitted():
            return
        if self.path != "/v1/embeddings" or body["model"] not in self.server.models:
            self._complain("404")
            return
        behaviour = self.server.take(
            body, {name.lower(): text for name, text in self.headers.items()}
        )
        with self.server.lock:
            self.server.busy += 1
            self.server.busiest = max(self.server.busiest, self.server.busy)
        self.server.closing.wait(self.server.latency)
        with self.server.lock:
            self.server.busy -= 1
        self._act(behaviour, body["model"], body["input"])

    def _act(self, behaviour, model, texts):
        rows = self.server.vectors(model, texts)
        data = [{"index": i, "embedding": row} for i, row in enumerate(rows)]
        match behaviour:
            case "missing":
                data.pop()
            case "twice":
                data[-1]["index"] = 0
            case "no index":
                del data[0]["index"]
            case "ragged":
                data[-1]["embedding"] = data[-1]["embedding"][1:]
            case "words":
                data[-1]["embedding"] = "AACAPwAAAEA="
            case "null":
                data[-1]["embedding"][3] = None
            case "nan":
                data[-1]["embedding"][3] = float("nan")
            case "huge":
                data[-1]["embedding"][3] = 1e300
            case "zero":
                data[-1]["embedding"] = [0.0] * self.server.dimension
            case "longer":
                for entry in data:
                    entry["embedding"].append(1.0)
            case "shuffled":
                data.reverse()
        if behaviour == "no data":
            self._json(200, {"object": "list"})
        elif behaviour in REFUSALS:
            self._complain(behaviour)
        else:
            if behaviour in ("good", "shuffled"):
                self.server.embedded += [(model, text) for text in texts]
            self._json(200, {"object": "list", "model": model, "data": data})

    def _complain(self, behaviour):
        message = REFUSALS[behaviour].format(key=self._presented)
        self._json(int(behaviour), {"error": {"message": message}}, {"Retry-After": "0.01"})

    def _json(self, status, value, headers=None):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--models", nargs="+", default=["small", "large"])
    parser.add_argument("--noise", type=float, default=0.0, help="relative, on every number")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    with FakeEmbeddingServer(
        models=options.models, noise=options.noise, latency=options.latency, port=options.port
    ) as fake_server:
        sys.stdout.write(f"{fake_server.url}\n")
        sys.stdout.flush()
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
