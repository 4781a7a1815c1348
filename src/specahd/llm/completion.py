"""From the body of a chat-completions response to its text and its tokens.

A body comes whole or as a stream of events; which one is seen from the body
itself, since servers do not always send what they were asked for.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specahd.llm.parsing import MAX_LENGTH

_ABANDONED = {"error", "insufficient_system_resource", "network_error"}
"""Finish reasons of services that gave up, rather than of models that stopped."""


class NoReply(ValueError):
    """A body that holds no reply; says why.

    Parameters
    ----------
    error
        What the service reported in the reply's place, if it did.
    """

    def __init__(self, reason: str, error: object = None) -> None:
        super().__init__(reason)
        self.error = error


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a service counted; the cached ones are part of the prompt's."""

    prompt: int
    cached: int
    completion: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply, empty if it said nothing; None where the service counted no tokens."""

    text: str
    usage: Usage | None


def read_completion(body: bytes) -> Completion:
    """Return the reply that a body holds.

    A reply is one however it ended: cut short, refused, empty. Text beyond what
    parsing reads is dropped.

    Raises
    ------
    NoReply
        The body is torn, is not a chat completion, or has no choice.
    """
    text = body.decode(errors="replace").strip()
    if text.startswith("{"):
        return _whole(read_object(text))
    if any(line.startswith("data:") for line in text.split("\n")):
        return _streamed(text)
    raise NoReply("the body is not JSON" if text else "the body is empty")


def read_models(body: bytes) -> list[str]:
    """Return the names of the models that a service lists, none if the body is no list."""
    try:
        entries = read_object(body.decode(errors="replace")).get("data")
    except NoReply:
        return []
    entries = entries if isinstance(entries, list) else []
    return [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]


def _whole(answer: Mapping[str, Any]) -> Completion:
    choice = _choice(answer)
    message = choice.get("message") if choice else None
    if not isinstance(message, dict):
        raise NoReply("the answer has no choice")
    return Completion(_cut(_said(message)), _usage(answer))


def _streamed(text: str) -> Completion:
    said: list[str] = []
    usage: Usage | None = None
    begun = ended = False
    for event in _events(text):
        if event is None:
            ended = True
            break
        usage = _usage(event) or usage
        choice = _choice(event)
        if choice is None:
            continue
        begun = True
        delta = choice.get("delta")
        said.append(_said(delta) if isinstance(delta, dict) else "")
        ended = ended or choice.get("finish_reason") is not None
    if not begun:
        raise NoReply("the answer has no choice")
    if not ended:
        raise NoReply("the stream broke off")
    return Completion(_cut("".join(said)), usage)


def _events(text: str) -> Iterator[dict[str, Any] | None]:
    """Yield the events of a stream; None for its regular end."""
    # Not splitlines: JSON may hold other characters that end a line.
    for line in text.split("\n"):
        if line.startswith("data:"):
            data = line.removeprefix("data:").strip()
            yield None if data == "[DONE]" else read_object(data)


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a body holds.

    Raises
    ------
    NoReply
        It holds none, or a service's error.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NoReply("the body is torn, or not JSON") from None
    if not isinstance(value, dict):
        raise NoReply("the body is not a JSON object")
    if value.get("error"):
        raise NoReply("the service reports an error", value["error"])
    return value


def _choice(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    choice: dict[str, Any] = choices[0]
    if choice.get("finish_reason") in _ABANDONED:
        raise NoReply("the service gave up")
    return choice


def _said(message: Mapping[str, Any]) -> str:
    """Return what a message says; a refusal may stand in a field of its own."""
    spoken = message.get("content") or message.get("refusal")
    return spoken if isinstance(spoken, str) else ""


def _cut(text: str) -> str:
    # One character more than parsing reads makes it refuse the text, and say so.
    return text[: MAX_LENGTH + 1]


def _usage(answer: Mapping[str, Any]) -> Usage | None:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt = _count(usage.get("prompt_tokens"))
    details = usage.get("prompt_tokens_details")
    # DeepSeek's own field, which stands beside or instead of OpenAI's.
    cached = usage.get("prompt_cache_hit_tokens")
    if isinstance(details, dict) and details.get("cached_tokens") is not None:
        cached = details["cached_tokens"]
    return Usage(prompt, min(_count(cached), prompt), _count(usage.get("completion_tokens")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
