import functools
from datetime import UTC, datetime

import pytest

from specahd.core.errors import ConfigError
from specahd.core.services import host_of
from specahd.llm.faults import Blocked, Complaint, RetryableError, quote_foreign, retry_after
from specahd.llm.keys import Key
from specahd.llm.service import Refusal, Service

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SERVICE = Service("model", "host", None)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("7", 7),
        ("1.5", 1.5),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30),
        ("Fri, 20 Nov 2026 13:00:30 +0100", 30),
        ("Fri, 20 Nov 2026 11:59:00 GMT", 0),
        ("Fri, 20 Nov 2026 12:00:30 -0000", 30),
        ("Fri, 20 Nov 2026 12:00:30", 30),
        ("Fri, 20 Nov 2026 12:00:30 +99999999999999999999", 0),
        ("Fri, 20 Nov 99999999999 12:00:30 GMT", 0),
        ("-3", 0),
        ("nan", 0),
        ("inf", 0),
        ("soon", 0),
        ("Fri, 99 Nov 2026 12:00:30 GMT", 0),
        ("", 0),
    ],
)
def test_a_service_asks_for_a_pause_in_seconds_or_by_a_date(asked, seconds):
    assert retry_after({"retry-after": asked}, NOON) == seconds


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (408, None, RetryableError),
        (409, None, RetryableError),
        (429, {"code": "rate_limit_exceeded"}, RetryableError),
        (429, {"code": "1302", "message": "您当前使用该API的并发数过高"}, RetryableError),
        (500, "oops", RetryableError),
        (503, {"message": ["not", "text"]}, RetryableError),
        (529, None, RetryableError),
        (200, {"code": 502, "message": "Upstream failed"}, RetryableError),
        (400, {"code": "content_filter"}, Blocked),
        (400, {"code": "1301"}, Blocked),
        (400, {"message": "Content Exists Risk", "code": "invalid_request_error"}, Blocked),
        (400, {"message": "bad"}, Refusal),
        (413, None, Blocked),
        (400, {"code": "context_length_exceeded"}, Blocked),
        (400, {"code": "1261", "message": "Bad"}, Blocked),
        *(
            (400, {"message": message}, Blocked)
            for message in (
                "This model's maximum context length is 4096 tokens. However, you requested 5120.",
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
                "prompt is too long: 210000 tokens > 200000 maximum",
                "the request exceeds the available context size, try increasing it",
                "The input token count (1234) exceeds the maximum number of tokens allowed (1000).",
                "Range of input length should be [1, 30720]",
                "Prompt contains 40000 tokens, too large for model with 32768",
                "Prompt 超长",
            )
        ),
        (400, {"message": "Invalid max_tokens value, the valid range is [1, 8192]"}, Refusal),
        (429, {"message": "Request too large for model on tokens per minute"}, RetryableError),
        (401, None, Refusal),
        (402, None, Refusal),
        (403, None, Refusal),
        (404, {"detail": "Not Found"}, Refusal),
        (422, None, Refusal),
        (429, {"type": "insufficient_quota", "code": None}, Refusal),
        (429, {"error": {"code": "1113", "message": "余额不足"}}, Refusal),
        (200, {"message": "Insufficient Balance"}, Refusal),
        (400, {"code": ["content_filter"], "message": {"a": 1}}, Refusal),
        (400, functools.reduce(lambda error, _: {"error": error}, range(5000), "bad"), Refusal),
        (400, {"message": functools.reduce(lambda part, _: [part], range(5000), "bad")}, Refusal),
    ],
)
def test_a_complaint_means_waiting_a_reply_or_the_end(status, error, kind):
    judged = SERVICE.classify(status, Complaint.from_field(error))
    assert type(judged) is kind
    assert "host" in str(judged) or kind is not Refusal


def test_foreign_words_are_one_short_line_without_the_key():
    key = Key("sk-12345678", "A_KEY")
    words = quote_foreign("No\n\x1b[31m sk-12345678 \u202e here." + "x" * 500, key)
    assert words.startswith("No [31m *** here.xxx")
    assert len(words) == 200


def test_the_host_is_what_messages_name():
    assert host_of("https://api.deepseek.com") == "api.deepseek.com"
    assert host_of("http://127.0.0.1:8000/v1") == "127.0.0.1:8000"
    with pytest.raises(ConfigError):
        host_of("https://host/v1?key=secret")
