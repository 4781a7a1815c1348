"""How the loopback server answers, and how it misbehaves."""

import random
import re
import threading
from dataclasses import dataclass

from offered import contract_of
from specahd.core.contract import Request
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.llm.offline import OfflineProposer
from specahd.methods.eoh import INITIAL

FAULTS = (
    *("busy", "busy for seconds", "busy until a date", "500", "503", "reset", "stall", "silence"),
    *("torn", "no choice", "html", "error in 200", "blanks"),
)
"""Ways not to reply."""
TRICKLES = ("slow headers", "early hints", "slow redirects")
"""Ways to be active and never to reply."""
BAD = (*("cut", "refusal", "wrong name", "two functions", "no idea", "garbage", "huge", "empty"),)
"""Replies that no parser accepts."""
REFUSALS = {
    "400": (400, "invalid_request_error", "temperature must be below 2"),
    "401": (401, "invalid_api_key", "Incorrect API key provided: {key}"),
    "402": (402, "unknown_error", "Insufficient Balance"),
    "403": (403, "permission_denied", "Not for {key}"),
    "404": (404, "model_not_found", "The model does not exist"),
    "405": (405, None, "Method Not Allowed"),
    "unstreamed": (400, "invalid_parameter_error", "This model only support stream mode"),
    "408": (408, "timeout", "Request timeout"),
    "409": (409, "conflict", "Conflict"),
    "422": (422, "invalid_request_error", "Unknown field; sent with {key}"),
    "500": (500, "server_error", "The server had an error, {key}"),
    "503": (503, "overloaded", "Overloaded"),
    "quota": (429, "insufficient_quota", "You exceeded your current quota"),
    "arrears": (429, "1113", "余额不足或无可用资源包,请充值。"),
    "blocked": (400, "content_filter", "The prompt was filtered"),
    "too long": (400, "context_length_exceeded", "This model's maximum context length is 4096."),
    "busy": (429, "rate_limit_exceeded", "Slow down"),
    "busy for seconds": (429, "rate_limit_exceeded", "Slow down"),
    "busy until a date": (429, "rate_limit_exceeded", "Slow down"),
}
"""Status, code and words of each complaint; some quote the key, as services do."""


@dataclass(frozen=True)
class Schedule:
    """Which requests meet which fault, and which samples get which bad reply."""

    seed: int = 0
    faults: float = 0.0
    bad: float = 0.0

    def fault(self, sample, attempt):
        return self._draw(self.faults, FAULTS, "fault", sample, attempt)

    def spoiling(self, sample):
        return self._draw(self.bad, BAD, "bad", sample)

    def _draw(self, share, behaviours, *path):
        rng = generator(self.seed, *path)
        return behaviours[rng.integers(len(behaviours))] if rng.random() < share else None


@dataclass(frozen=True)
class Script:
    """The same for every sample: these faults first, then this bad reply or the good one.

    A sample whose name begins with ``spared`` meets no fault.
    """

    faults: tuple[str, ...] = ()
    bad: str | None = None
    spared: str | None = None

    def fault(self, sample, attempt):
        if self.spared is not None and sample.startswith(self.spared):
            return None
        return self.faults[attempt] if attempt < len(self.faults) else None

    def spoiling(self, sample):
        return self.bad


def spoilt(text, behaviour, sample):
    """Return a good reply as no parser accepts it."""
    match behaviour:
        case "cut":
            return re.split(r"(?m)(?<=^def )\w+", text, maxsplit=1)[0]
        case "refusal":
            return "I'm sorry, but I can't help with that."
        case "wrong name":
            return re.sub(r"(?m)^def \w+", "def another_name", text, count=1)
        case "two functions":
            return re.sub(r"(?m)^def ", "def second(x):\n    return x\n\n\ndef ", text, count=1)
        case "no idea":
            return re.sub(r"\{.*?\}", "", text, count=1, flags=re.DOTALL)
        case "garbage":
            rng = random.Random(sample)
            return "".join(chr(rng.choice((0, 7, 0x85, 0x202E, 0x2028, 0xD83D, 0xFFFF, 0x1F4A9)))
                           for _ in range(200))  # fmt: skip
        case "huge":
            return text + "#" * 2**18
    return ""


def offline(seed=0):
    """Return an ``answer`` that writes what ``llm=offline`` writes for a sample to operator i1."""
    proposer, lock = OfflineProposer(), threading.Lock()

    def answer(prompt, sample):
        level, *numbers = re.match(r"(\w+)-(\d+)-(\d+)", sample).groups()
        contract = contract_of("cvrp", Level(level))
        with lock:
            asked = Request(contract, seed, contract.level, *map(int, numbers), INITIAL)
            return proposer.propose(asked).text

    return answer
