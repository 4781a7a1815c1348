"""A loopback server that speaks the protocols of Anthropic and of Gemini, and refuses in them."""

import json

from loopback import LoopbackHandler, LoopbackServer

# Status and kind of a refusal in each protocol, and what both say.
REFUSALS = {
    "key": (401, "authentication_error", 400, "INVALID_ARGUMENT", "API key not valid. {key}"),
    "limit": (429, "rate_limit_error", 429, "RESOURCE_EXHAUSTED", "slow down"),
    "busy": (529, "overloaded_error", 503, "UNAVAILABLE", "overloaded"),
    "unknown": (404, "not_found_error", 404, "NOT_FOUND", "no such model"),
    "long": (400, "invalid_request_error", 400, "INVALID_ARGUMENT", "prompt is too long: 9 > 8"),
    "credit": (
        *(400, "invalid_request_error", 400, "FAILED_PRECONDITION"),
        "Your credit balance is too low",
    ),
    "option": (400, "invalid_request_error", 400, "INVALID_ARGUMENT", "temperature: too hot"),
}


class ForeignServer(LoopbackServer):
    """Answers with ``answer(prompt, sample)``; ``faults`` befall the first requests."""

    def __init__(self, answer, *faults):
        super().__init__(Handler, 0, None)
        self.url = self.url.removesuffix("/v1")
        self.answer = answer
        self.faults = list(faults)
        self.keys = []
        self.bodies = []
        self.stall = 60


class Handler(LoopbackHandler):
    """Plays one connection."""

    def do_POST(self):
        body = json.loads(self._body())
        anthropic = self.path == "/v1/messages"
        key = self.headers.get("x-api-key" if anthropic else "x-goog-api-key")
        self.server.keys.append(key)
        self.server.bodies.append(body)
        fault = self.server.faults.pop(0) if self.server.faults else None
        if fault == "silence":
            self._hang()
            return
        if fault == "page":
            self._answer(200, b"<html>Sign in</html>")
            return
        if fault is not None:
            status, kind, other, name, words = REFUSALS[fault]
            words = words.format(key=key)
            mine = {"type": "error", "error": {"type": kind, "message": words}}
            theirs = {"error": {"code": other, "message": words, "status": name}}
            self._answer(*((status, mine) if anthropic else (other, theirs)))
            return
        prompt = (
            body["messages"][-1]["content"][0]["text"]
            if anthropic
            else body["contents"][-1]["parts"][0]["text"]
        )
        text = self.server.answer(prompt, self.headers["X-Client-Request-Id"])
        self._answer(200, (claude if anthropic else gemini)(text))

    def _answer(self, status, body):
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(sent)


def claude(text):
    # The cached tokens are not among the input's.
    usage = {"input_tokens": 600, "output_tokens": 200, "cache_read_input_tokens": 400}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {**usage, "cache_creation_input_tokens": 0},
    }  # fmt: skip


def gemini(text):
    content = {"parts": [{"text": text}], "role": "model"}
    counts = {"promptTokenCount": 1000, "candidatesTokenCount": 200, "totalTokenCount": 1200}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": counts,
        "modelVersion": "gemini-2.5-flash",
    }
