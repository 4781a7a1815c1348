"""A loopback server that speaks chat completions, and misbehaves on a schedule.

Transport faults depend on the sample and on how often it was asked for, bad
replies on the sample alone: whatever the order of requests and whatever fails,
a sample gets the same reply in the end. The header ``X-Client-Request-Id`` names it.
"""

import gzip
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from server_behaviour import BAD, REFUSALS, Schedule, spoilt

from loopback import LoopbackHandler, LoopbackServer

HTML = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass
class Exchange:
    """One request, and what was done about it."""

    sample: str
    attempt: int
    behaviour: str
    time: float
    body: dict = field(repr=False)
    headers: dict = field(repr=False)


class Server(LoopbackServer):
    """Speaks for a language model.

    ``answer(prompt, sample)`` gives the text of a good reply. A fault that makes
    the client wait lasts ``stall`` seconds. A ``wordy`` one counts for each reply as many tokens as
    the request allows, or a few less. Complaints, and the header ``X-Echo``, repeat the key as
    ``spell(key)``.
    """

    def __init__(
        self, answer, schedule=None, *, key=None, models=("tested",), lists=True, latency=0.0,
        stall=1.0, wait=1, counts_tokens=True, wordy=False, obeys_stream=True, compresses=False,
        spell=str,
    ):  # fmt: skip
        super().__init__(Handler, 0, key)
        self.answer = answer
        self.schedule = schedule or Schedule()
        self.models = models
        self.lists = lists
        self.latency = latency
        self.stall = stall
        self.wait = wait
        self.counts_tokens = counts_tokens
        self.wordy = wordy
        self.obeys_stream = obeys_stream
        self.compresses = compresses
        self.spell = spell
        self.exchanges = []
        self._attempts = Counter()
        self._lock = threading.Lock()

    @property
    def counts(self):
        """How often each attack was done; ``good`` is a good reply."""
        with self._lock:
            return Counter(exchange.behaviour for exchange in self.exchanges)

    def take(self, sample, body, headers):
        """Count a request, and decide what to do about it."""
        with self._lock:
            attempt = self._attempts[sample]
            self._attempts[sample] += 1
            fault = self.schedule.fault(sample, attempt)
            behaviour = fault or self.schedule.spoiling(sample) or "good"
            moment = time.monotonic()
            self.exchanges.append(Exchange(sample, attempt, behaviour, moment, body, headers))
        return behaviour


class Handler(LoopbackHandler):
    """Plays one connection."""

    def do_GET(self):
        if not self._admitted():
            return None
        if self.path == "/v1/models" and self.server.lists:
            data = [{"id": name, "object": "model"} for name in self.server.models]
            return self._json(200, {"object": "list", "data": data})
        return self._json(404, {"detail": "Not Found"})

    def do_POST(self):
        body = json.loads(self._body())
        if not self._admitted():
            return
        if self.path != "/v1/chat/completions":
            self._json(404, {"detail": "Not Found"})
            return
        if body["model"] not in self.server.models:
            self._complain("404")
            return
        prompt = body["messages"][-1]["content"]
        sample = self.headers["X-Client-Request-Id"]
        headers = {name.lower(): value for name, value in self.headers.items()}
        behaviour = self.server.take(sample, body, headers)
        self.server.closing.wait(self.server.latency)
        text, reason = self.server.answer(prompt, sample), "stop"
        if behaviour in BAD:
            text = spoilt(text, behaviour, sample)
            reason = "length" if behaviour == "cut" else "stop"
        self._act(behaviour, Spoken(body, prompt, text, reason, behaviour == "refusal"))

    def _act(self, behaviour, spoken):
        streamed = bool(spoken.body.get("stream")) and self.server.obeys_stream
        usage = spoken.usage(self.server.wordy) if self.server.counts_tokens else None
        body = (spoken.events if streamed else spoken.whole)(usage)
        kind = "text/event-stream" if streamed else "application/json"
        match behaviour:
            case "silence":
                self._hang()
            case "stall" | "reset":
                self._send(200, kind, body[: len(body) // 2], promised=len(body))
                if behaviour == "stall":
                    self._hang()
                self._break()
            case "blanks" | "slow refusal":
                status = 200 if behaviour == "blanks" else 500
                self._send(status, kind, b"", promised=len(body))
                for _ in range(int(self.server.stall / 0.02)):
                    self.wfile.write(b"\n")
                    self.server.closing.wait(0.02)
                self._break()
            case "slow headers" | "early hints":
                hint = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                self.wfile.write(b"HTTP/1.1 200 OK\r\n" if behaviour == "slow headers" else hint)
                for number in range(int(self.server.stall / 0.02)):
                    slow = b"X-%d: y\r\n" % number
                    self.wfile.write(slow if behaviour == "slow headers" else hint)
                    self.server.closing.wait(0.02)
                self._break()
            case "slow redirects":
                self.server.closing.wait(0.1)
                self._json(307, {}, {"Location": self.path})
            case "torn":
                self._send(200, kind, body[: len(body) * 2 // 3])
            case "no choice":
                self._json(200, {"id": "x", "object": "chat.completion", "choices": []})
            case "messages":
                part = {"type": "text", "text": spoken.text}
                self._json(200, {"type": "message", "role": "assistant", "content": [part]})
            case "lines":
                line = {"message": {"role": "assistant", "content": "{"}, "done": False}
                self._send(200, "application/x-ndjson", f"{json.dumps(line)}\n".encode() * 9)
            case "html":
                self._send(200, "text/html", HTML.encode())
            case "error in 200":
                self._json(200, {"error": {"code": 500, "message": "Upstream failed"}})
            case _ if behaviour in REFUSALS:
                self._complain(behaviour)
            case _:
                self._send(200, kind, body)

    def _complain(self, behaviour):
        status, code, words = REFUSALS[behaviour]
        headers = {}
        if behaviour == "busy for seconds":
            headers["Retry-After"] = str(self.server.wait)
        elif behaviour == "busy until a date":
            moment = datetime.now(UTC) + timedelta(seconds=self.server.wait)
            headers["Retry-After"] = format_datetime(moment, usegmt=True)
        error = {"code": code, "type": code, "message": words.format(key=self._echo)}
        self._json(status, {"error": error}, headers)

    @property
    def _echo(self):
        return self.server.spell(self._presented)

    def _json(self, status, value, headers=None):
        self._send(status, "application/json", json.dumps(value).encode(), headers)

    def _send(self, status, kind, body, headers=None, promised=None):
        if self.server.compresses:
            body, headers = gzip.compress(body), {**(headers or {}), "Content-Encoding": "gzip"}
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Echo", " ".join(self._echo.split()))
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@dataclass(frozen=True)
class Spoken:
    """A reply to a request, in both of its forms."""

    body: dict
    prompt: str
    text: str
    reason: str
    refused: bool

    def usage(self, wordy):
        """A token for four characters; the model has seen half of each prompt before."""
        prompt, completion = len(self.prompt) // 4, len(self.text) // 4
        if wordy:
            completion = self.body["max_tokens"] - len(self.text) % 7
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
        }

    def whole(self, usage):
        text = None if self.refused else self.text
        message = {"role": "assistant", "content": text}
        if self.refused:
            message["refusal"] = self.text
        choice = {"index": 0, "message": message, "finish_reason": self.reason}
        return json.dumps(self._envelope("chat.completion", [choice], usage)).encode()

    def events(self, usage):
        field = "refusal" if self.refused else "content"
        deltas = [{"role": "assistant", "content": ""}]
        deltas += [{field: self.text[i : i + 40]} for i in range(0, len(self.text), 40)]
        kind = "chat.completion.chunk"
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": self.reason})
        events = [self._envelope(kind, [choice], None) for choice in choices]
        if usage and self.body.get("stream_options", {}).get("include_usage"):
            events.append(self._envelope(kind, [], usage))
        lines = [f"data: {json.dumps(event)}\r\n\r\n" for event in events]
        return "".join([": keep-alive\r\n\r\n", *lines, "data: [DONE]\r\n\r\n"]).encode()

    def _envelope(self, kind, choices, usage):
        envelope = {"id": "x", "object": kind, "created": 0, "model": self.body["model"]}
        return envelope | {"choices": choices} | ({"usage": usage} if usage else {})
