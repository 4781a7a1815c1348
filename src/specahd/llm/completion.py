"""Read the text, its end and the token counts from the body of a chat completion.

A body is one JSON object or a stream of events. The form is read from the body
itself, since servers do not always send the form that was requested.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from specahd.core.proposer import LENGTH

_ABANDONED = {"error", "insufficient_system_resource", "network_error"}
"""Finish reasons that mean a failure of the service, not a reply of the model."""
MAX_REPLY = 1_000_000
"""Longest text that is kept, in characters; thoughts before an answer may take most of it."""
MAX_OBJECT = 8 * 2**20
"""Longest JSON object that is parsed, in characters; its values may take 25 times its memory."""
_DATA = re.compile(r"^data:([^\n]*)", re.MULTILINE)
_END = "[DONE]"
_MOST_TOKENS = 10**9
"""Largest credible count of tokens of one reply."""
_DIGITS = 18
_ANSWERS = ("content", "refusal")
_THOUGHTS = ("reasoning_content", "reasoning")
_TEXTS = ("text", "output_text", None)
"""Types of the parts of a message that hold its text."""


class NoReply(ValueError):
    """A body holds no reply; the message is the reason.

    Parameters
    ----------
    error
        The error that the service reported instead of a reply, if any.
    """

    def __init__(self, reason: str, error: object = None) -> None:
        super().__init__(reason)
        self.error = error


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a service counted, None where it gives no count above 0.

    The cached ones are part of the prompt's.
    """

    prompt: int | None
    cached: int
    completion: int | None


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply, possibly empty; a field is None if the service does not give it.

    ``written`` is the number of characters that the model wrote, thoughts included.
    """

    text: str
    usage: Usage | None
    finish_reason: str | None = None
    model: str | None = None
    written: int = field(default=0, compare=False)


def read_completion(body: bytes) -> Completion:
    """Read the reply from a body.

    A truncated, refused or empty reply is a reply, too. Text beyond :data:`MAX_REPLY`
    characters is dropped.

    Raises
    ------
    NoReply
        The body is incomplete, is not a chat completion, or has no choice.
    """
    said: dict[str, list[str]] = {name: [] for name in (*_ANSWERS, *_THOUGHTS)}
    usage = finish = model = None
    answered = ended = False
    # One event at a time: all at once would take thirty times their memory.
    for line in _objects(body):
        if line == _END:
            ended = True
            break
        event = read_object(line)
        # Some streams count as they go on, and some end with zeros.
        usage = max(filter(None, (usage, _read_usage(event))), key=_total, default=None)
        model = model or _word(event, "model")
        choice = _read_choice(event)
        message = _read_message(choice)
        finish = _word(choice, "finish_reason") or finish
        answered |= message is not None
        for name, texts in said.items():
            if text := _text((message or {}).get(name)):
                texts.append(text)
    if not answered:
        raise NoReply("the answer has no choice")
    if not (ended or finish):
        raise NoReply("the stream broke off")
    return Completion(
        _joined(said, finish)[:MAX_REPLY],
        usage,
        finish,
        model,
        sum(len(text) for texts in said.values() for text in texts),
    )


def _objects(body: bytes) -> Iterator[str]:
    """Return the texts of a body's JSON objects: of one, or of the events of a stream."""
    text = body.decode("utf-8-sig", errors="replace").strip()
    if text.startswith("{"):
        return iter((text, _END))
    events = _event_data(text)
    first = next(events, None)
    if first is None:
        raise NoReply("the body is not JSON" if text else "the body is empty")
    return chain((first,), events)


def is_foreign(body: bytes) -> bool:
    """Return whether a body is of another protocol: a page of HTML, or JSON without choices."""
    text = body.decode(errors="replace").strip()
    if text.startswith("<"):
        return True
    # Another protocol may send a line of JSON for each piece of its answer.
    for part in (text, *islice(_event_data(text), 1), text.partition("\n")[0]):
        try:
            return "choices" not in read_object(part)
        except NoReply as error:
            if error.error is not None:
                return False
    return False


def _event_data(text: str) -> Iterator[str]:
    """Return the data of the events of a stream, in order."""
    # Not splitlines: JSON may hold other characters that end a line.
    return (found[1].strip() for found in _DATA.finditer(text))


def read_models(body: bytes) -> list[str]:
    """Return the names of the models that a service lists; an empty list if the body has none."""
    try:
        entries = read_object(body.decode(errors="replace")).get("data")
    except NoReply:
        return []
    entries = entries if isinstance(entries, list) else []
    names = (_word(entry, "id") for entry in entries if isinstance(entry, dict))
    return [name for name in names if name is not None]


def read_object(text: str, longest: int = MAX_OBJECT) -> dict[str, Any]:
    """Return the JSON object that a body holds, of at most ``longest`` characters.

    Raises
    ------
    NoReply
        The body holds no object, a longer one, or a service's error.
    """
    if len(text) > longest:
        raise NoReply(f"an object of more than {longest} characters")
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise NoReply("the body is torn, or not JSON") from None
    if not isinstance(value, dict):
        raise NoReply("the body is not a JSON object")
    if value.get("error"):
        raise NoReply("the service reports an error", value["error"])
    return value


def _read_choice(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first choice, an empty one if there is none."""
    choices = event.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return {}
    choice: dict[str, Any] = choices[0]
    if _word(choice, "finish_reason") in _ABANDONED:
        raise NoReply("the service gave up")
    return choice


def _read_message(choice: Mapping[str, Any]) -> dict[str, Any] | None:
    message = choice.get("message", choice.get("delta"))
    return message if isinstance(message, dict) else None


def _joined(said: Mapping[str, list[str]], finish_reason: str | None) -> str:
    """Return the text of a message, or of the chunks of a stream, from those of each field.

    Some servers put a whole answer into a field of thoughts and leave the content empty. In
    such a field, what was cut at the token limit is a thought without its answer.
    """
    fields = _ANSWERS if finish_reason == LENGTH else (*_ANSWERS, *_THOUGHTS)
    return next(filter(str.strip, ("".join(said[field]) for field in fields)), "")


def _text(content: object) -> str:
    """Return a text, or the texts of a list of parts, without those of its thoughts."""
    if isinstance(content, list):
        return "".join(_text(part) for part in content if not isinstance(part, list))
    if isinstance(content, dict):
        said = content.get("text") if content.get("type") in _TEXTS else None
        return said if isinstance(said, str) else ""
    return content if isinstance(content, str) else ""


def _word(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a field that is a text with a letter, else None."""
    value = fields.get(name)
    return value if isinstance(value, str) and value.strip() else None


def _read_usage(event: Mapping[str, Any]) -> Usage | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = (
        _read_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")
    )
    if prompt is completion is None:
        return None
    details = usage.get("prompt_tokens_details")
    # DeepSeek's own field, sent in addition to OpenAI's or instead of it.
    cached = usage.get("prompt_cache_hit_tokens")
    if isinstance(details, dict) and details.get("cached_tokens") is not None:
        cached = details["cached_tokens"]
    return Usage(prompt, min(_read_count(cached) or 0, prompt or 0), completion)


def _total(usage: Usage) -> int:
    return (usage.prompt or 0) + (usage.completion or 0)


def _read_count(value: object) -> int | None:
    """Return a count of tokens above 0, also if it is a float or a text; else None."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = _bounded_int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _MOST_TOKENS and value == int(value) else None


def _bounded_int(digits: str) -> int | float:
    """Return an integer; one of more digits than any count has becomes a float."""
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_bounded_int)
