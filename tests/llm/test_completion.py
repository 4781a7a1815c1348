import json
import tracemalloc

import pytest

from specahd.llm.completion import (
    MAX_OBJECT,
    MAX_REPLY,
    Completion,
    NoReply,
    Usage,
    read_completion,
    read_models,
)
from specahd.llm.faults import Complaint


def whole(message, reason="stop", **fields):
    return {"choices": [{"message": message, "finish_reason": reason}], **fields}


def read(value):
    return read_completion(json.dumps(value).encode())


def streamed(*events):
    return read_completion("".join(f"data: {event}\n\n" for event in events).encode())


def piece(text, reason=None):
    choice = {"delta": {"content": text}, "finish_reason": reason}
    return json.dumps({"choices": [choice]}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "said"}, "said"),
        ({"content": "said", "reasoning_content": "thought"}, "said"),
        ({"content": None, "refusal": "no"}, "no"),
        ({"content": None, "tool_calls": [{}]}, ""),
        ({"content": ""}, ""),
        ({"content": "", "reasoning_content": "said"}, "said"),
        ({"content": None, "reasoning": "said", "refusal": None}, "said"),
        ({"content": [{"type": "text", "text": "sa"}, {"text": "i"}, "d"]}, "said"),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "thought"}]},
                    {"type": "image_url", "text": "no"},
                    {"type": "text", "text": "said"},
                    [["no"]],
                    None,
                ]
            },
            "said",
        ),
        ({"content": {"type": "text", "text": "said"}}, "said"),
        ({"content": 5}, ""),
        ({}, ""),
        ({"content": "x" * 2**20}, "x" * MAX_REPLY),
    ],
)
def test_what_a_model_said_is_the_reply(message, text):
    assert read(whole(message)) == Completion(text, None, "stop")


def test_thoughts_that_were_cut_are_no_reply():
    message = {"content": "", "reasoning_content": "thought"}
    assert read(whole(message, "length")) == Completion("", None, "length")
    chunks = [{"delta": {"reasoning_content": text}} for text in ("sa", "id")]
    events = [json.dumps({"choices": [chunk]}) for chunk in chunks]
    assert streamed(*events, "[DONE]").text == "said"
    assert streamed(*events, piece("Said.", "stop")).text == "Said."


def test_the_end_and_the_model_are_read_if_they_are_words():
    assert read(whole({"content": "x"}, "length", model="m-2")) == Completion(
        "x", None, "length", "m-2"
    )
    for odd in (["stop"], {"a": 1}, 5, True, None, " "):
        assert read(whole({"content": "x"}, odd, model=odd)) == Completion("x", None)
    named = [
        json.dumps({**json.loads(piece("x", reason)), "model": "m"}) for reason in (None, "stop")
    ]
    assert streamed(*named) == Completion("xx", None, "stop", "m")


@pytest.mark.parametrize(
    ("counted", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, Usage(9, 0, 4)),
        (
            {"prompt_tokens": 9, "prompt_cache_hit_tokens": 5, "completion_tokens": 4},
            Usage(9, 5, 4),
        ),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 5}},
            Usage(9, 5, None),
        ),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 50}},
            Usage(9, 9, None),
        ),
        ({"prompt_tokens": -9, "completion_tokens": "4"}, Usage(None, 0, 4)),
        ({"prompt_tokens": 1200.0, "completion_tokens": 4.5}, Usage(1200, 0, None)),
        ({"prompt_tokens": True, "completion_tokens": 10**400}, None),
        ({}, None),
        (None, None),
    ],
)
def test_tokens_are_read_where_services_put_them(counted, usage):
    assert read(whole({"content": "said"}, usage=counted)).usage == usage


def test_a_stream_is_put_together():
    counted = {"prompt_tokens": 3, "completion_tokens": 2}
    events = [piece("{A\u2028"), piece("}"), piece("", "stop")]
    usage = json.dumps({"choices": [], "usage": counted})
    expected = Completion("{A\u2028}", Usage(3, 0, 2), "stop")
    assert streamed(*events, usage, "[DONE]") == expected
    # Some services count in the last piece, and some end without the mark, or with zeros.
    assert streamed(*events, usage) == expected
    zeros = json.dumps({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}})
    assert streamed(*events, usage, zeros) == expected
    # Some count as they go on.
    before = json.dumps({"choices": [], "usage": {**counted, "completion_tokens": 1}})
    assert streamed(before, *events, usage) == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "is empty"),
        (b"\n\n  \n", "is empty"),
        (b"<html>Bad Gateway</html>", "not JSON"),
        (b'{"choices": [{"mess', "torn"),
        (b'{"a":' * 100_000, "torn"),
        (b'{"choices": []}', "no choice"),
        (b'{"choices": null}', "no choice"),
        (b'{"choices": [{"message": "said"}]}', "no choice"),
        (b'{"error": {"message": "busy"}}', "reports an error"),
        (b'{"choices": [{"finish_reason": "insufficient_system_resource"}]}', "gave up"),
        (b'data: {"choices": []}\n\ndata: [DONE]\n\n', "no choice"),
        (b"data: [DONE]\n\n", "no choice"),
        (f"data: {piece('x')}\n\n".encode(), "broke off"),
        (f"data: {piece('x')}\n\ndata: {{'cho".encode(), "torn"),
        (b'data: {"error": {"message": "busy"}}\n\n', "reports an error"),
    ],
)
def test_a_body_without_a_reply_says_why(body, reason):
    with pytest.raises(NoReply, match=reason):
        read_completion(body)


def test_a_stream_takes_little_more_memory_than_its_bytes():
    envelope = {"id": "x" * 30, "object": "chat.completion.chunk", "created": 1, "model": "m"}
    event = json.dumps({**envelope, **json.loads(piece("said ")), "usage": None})
    body = f"data: {event}\n\n".encode() * 10_000 + b"data: [DONE]\n\n"
    tracemalloc.start()
    try:
        assert read_completion(body).text == "said " * 10_000
        assert tracemalloc.get_traced_memory()[1] < 3 * len(body)
    finally:
        tracemalloc.stop()


def test_an_object_whose_values_would_fill_the_memory_is_not_parsed():
    body = b'{"choices": [' + b"{}," * (MAX_OBJECT // 3) + b"{}]}"
    for sent in (body, b"data: " + body + b"\n\n"):
        with pytest.raises(NoReply, match=r"an object of more than 8388608 characters"):
            read_completion(sent)
    assert Complaint.from_body(body) == Complaint()


def test_a_byte_order_mark_is_passed_over():
    body = json.dumps(whole({"content": "said"})).encode("utf-8-sig")
    assert read_completion(body).text == "said"


def test_bytes_that_are_no_text_are_replaced():
    body = json.dumps(whole({"content": "?"})).encode().replace(b"?", b"\xff")
    assert read_completion(body).text == "\ufffd"


def test_models_are_read_from_what_is_a_list():
    assert read_models(b'{"data": [{"id": "a"}, {"name": "b"}, {"id": "c"}]}') == ["a", "c"]
    assert read_models(b"<html>") == read_models(b"[]") == read_models(b'{"models": []}') == []
