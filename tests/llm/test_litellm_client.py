"""Models of other protocols by LiteLLM: what comes of their answers, prices, refusals and keys."""

import logging
import sys
import time

import pytest
from client_setup import CANARY, GOOD, request
from foreign_server import ForeignServer
from server_behaviour import offline

from commands import SMALL, call
from specahd.core import extras, journal
from specahd.core.errors import ConfigError, ServiceError, ServiceUnavailable
from specahd.llm.litellm_client import LiteLLMProposer

CLAUDE, GEMINI = "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash"
MODELS = pytest.mark.parametrize("model", [CLAUDE, GEMINI])


@pytest.fixture(autouse=True)
def key(litellm, monkeypatch):
    monkeypatch.setenv("TESTED_API_KEY", CANARY)
    # LiteLLM would take it.
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-another-0123456789")
    monkeypatch.setenv("GEMINI_API_KEY", "sk-another-0123456789")


def good(prompt, sample):
    return GOOD


def proposer(server, model, **options):
    quick = {"timeout": 5.0, "attempts": 3, "deadline": 60.0, "backoff": 0.01, "patience": 0.05}
    given = {"base_url": server.url, "api_key_env": "TESTED_API_KEY"}
    return LiteLLMProposer(model=model, **(given | quick | options))


@MODELS
def test_a_reply_has_its_text_its_tokens_and_the_price_of_the_table(model):
    with ForeignServer(good) as server:
        client = proposer(server, model, options={"temperature": 0.5, "max_tokens": 300})
        client.preflight()
        reply = client.propose(request())
    assert (reply.text, reply.finish_reason) == (GOOD, "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (1000, 200)
    prices = {CLAUDE: 600 * 1 + 400 * 0.1 + 200 * 5, GEMINI: 1000 * 0.3 + 200 * 2.5}
    assert reply.cost == pytest.approx(prices[model] / 1e6)
    assert (client.tariff().output_price, client.tariff().max_reply) == (
        pytest.approx({CLAUDE: 5, GEMINI: 2.5}[model]),
        300,
    )
    assert model.startswith(reply.provider)
    assert server.keys == [CANARY, CANARY]
    body = server.bodies[-1]
    assert body.get("temperature", body.get("generationConfig", {}).get("temperature")) == 0.5


@MODELS
@pytest.mark.parametrize("fault", ["limit", "busy", "silence"])
def test_what_passes_is_asked_again(model, fault, caplog):
    with ForeignServer(good, fault) as server:
        began = time.monotonic()
        assert proposer(server, model, timeout=2.0).propose(request()).text == GOOD
        assert time.monotonic() - began < 6
    [warning] = [each.message for each in caplog.records if each.name.startswith("specahd")]
    words = {"limit": "slow down", "busy": "overloaded", "silence": "no answer within 2 seconds"}
    assert words[fault] in warning
    assert "attempt 2 of 3" in warning


@MODELS
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("key", "rejects the key in TESTED_API_KEY"),
        ("unknown", "has no model"),
        ("credit", "has no credit left"),
        ("option", "(temperature: too hot); correct llm.options or llm.model"),
    ],
)
def test_a_refusal_says_what_to_correct_and_hides_the_key(model, fault, words, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    with ForeignServer(good, fault) as server, pytest.raises(ServiceError) as info:
        proposer(server, model).propose(request())
    assert words in str(info.value)
    assert info.value.__context__ is None
    assert len(server.bodies) == 1
    assert CANARY not in str(info.value) + caplog.text + "".join(capfd.readouterr())


@MODELS
def test_a_prompt_that_is_too_long_is_a_refused_one(model):
    with ForeignServer(good, "long") as server:
        reply = proposer(server, model).propose(request())
    assert reply.refused
    assert (reply.cost, reply.prompt_tokens) == (0, 0)


def test_a_page_of_a_gateway_is_no_reply():
    with ForeignServer(good, "page") as server:
        assert proposer(server, CLAUDE).propose(request()).text == GOOD


def test_a_service_that_is_away_ends_the_requests():
    with ForeignServer(good) as server:
        client = proposer(server, CLAUDE)
    with pytest.raises(ServiceUnavailable, match="attempts=3"):
        client.propose(request())


def test_a_key_in_a_reply_is_masked():
    with ForeignServer(lambda *_: f"{GOOD}{CANARY}") as server:
        assert CANARY not in proposer(server, GEMINI).propose(request()).text


def test_no_key_is_sent_that_nobody_named():
    with ForeignServer(good) as server:
        proposer(server, CLAUDE, api_key_env=None).propose(request())
    assert server.keys == ["none"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "tested"}, "Expected llm.model to be PROVIDER/MODEL as LiteLLM has it"),
        ({"model": "anthropic/own"}, "no price of anthropic/own; set llm.input_price"),
        ({"options": {"api_key": "x"}}, "Expected llm.options without api_key, which would be"),
        ({"options": {"num_retries": 2}}, "Expected llm.options without num_retries"),
        ({"stream": True}, "Expected llm.stream=false"),
        ({"output_price": -1}, "Expected llm.output_price of at least 0, got -1"),
        ({"base_url": "somewhere"}, "Expected llm.base_url to be"),
        ({"base_url": None, "api_key_env": None, "model": "mistral/mistral-large-latest"},
         "Expected the key of mistral in the environment variable MISTRAL_API_KEY"),
    ],
)  # fmt: skip
def test_options_are_refused_in_one_sentence(options, words, monkeypatch):
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    given = {"model": CLAUDE, "api_key_env": "TESTED_API_KEY"}
    with pytest.raises(ConfigError) as info:
        LiteLLMProposer(**(given | options))
    assert words in str(info.value)
    assert len(str(info.value)) < 250


def test_a_model_of_ones_own_has_the_prices_that_are_given():
    with ForeignServer(good) as server:
        client = proposer(server, "anthropic/own", input_price=1, output_price=2)
        assert client.propose(request()).cost == pytest.approx((1000 * 1 + 200 * 2) / 1e6)


@pytest.mark.integration
def test_a_training_is_recorded_and_replayed_within_its_bounds(tmp_path):
    environment = {"TESTED_API_KEY": CANARY}
    writes = offline(1)
    with ForeignServer(
        lambda prompt, sample: GOOD if sample == "preflight" else writes(prompt, sample), "limit"
    ) as server:
        options = [
            *SMALL, "llm=litellm", f"llm.base_url={server.url}", "llm.api_key_env=TESTED_API_KEY",
            f"llm.model={CLAUDE}", "+llm.options.max_tokens=1000", "record=kept.jsonl",
            "budget.max_cost=0.015", "hydra.run.dir=run",
        ]  # fmt: skip
        done = call("train", *options, cwd=tmp_path, env=environment)
    assert "ended early: budget.max_cost=0.015" in done.stdout
    replies = list(journal.read_records(tmp_path / "run" / "wal.jsonl"))
    assert 0 < sum(reply["cost"] for reply in replies) <= 0.015
    assert {reply["provider"] for reply in replies} == {"anthropic"}
    replay = ["llm=recorded", "llm.path=kept.jsonl", "hydra.run.dir=again"]
    # To where the recorded run ended.
    call("train", *SMALL, *replay, cwd=tmp_path, check=False)
    first, second = (
        [record["reply"] for record in journal.read_records(tmp_path / name / "journal.jsonl")
         if "reply" in record]
        for name in ("run", "again")
    )  # fmt: skip
    assert first == second
    assert len(first) >= 6
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes(), path


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(extras, "requires", lambda name: ["is-nowhere<2; extra == 'litellm'"])
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ConfigError, match=r"^llm=litellm needs .*: pip install '.*litellm\]'\.$"):
        LiteLLMProposer(model=CLAUDE)
