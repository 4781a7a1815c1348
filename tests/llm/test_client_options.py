"""The client before its first request: preflight, the key, the options."""

import logging
import socket
import time
import traceback

import pytest
from client_setup import CANARY, proposer, request, serve
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from server_behaviour import REFUSALS

from specahd.config import CONF_DIR
from specahd.config.schemas import register_schemas
from specahd.core.errors import ConfigError, ServiceError, TransportError
from specahd.llm import service_client
from specahd.llm.client import ChatProposer

# Preflight


def test_preflight_spends_nothing_where_models_are_listed():
    with serve(models=("other", "tested")) as server:
        proposer(server).preflight()
    assert server.exchanges == []


@pytest.mark.parametrize("fault", [(), ("503",)])
def test_preflight_asks_for_a_word_where_they_are_not(fault):
    with serve(*fault, lists=False) as server:
        proposer(server).preflight()
    assert server.counts["good"] == 1


@pytest.mark.parametrize("lists", [True, False])
def test_preflight_names_what_is_wrong(lists, monkeypatch):
    monkeypatch.setenv("A_KEY", CANARY)
    with serve(key=CANARY, models=("small", "large"), lists=lists) as server:
        unknown = "set llm.model to one of its own: small, large" if lists else "correct one"
        with pytest.raises(ServiceError, match=f"no model tested.*{unknown}"):
            proposer(server, api_key_env="A_KEY").preflight()
        with pytest.raises(ServiceError, match=r"wants a key; set llm.api_key_env"):
            proposer(server).preflight()
        monkeypatch.setenv("A_KEY", "sk-another")
        with pytest.raises(ServiceError, match="rejects the key in A_KEY"):
            proposer(server, api_key_env="A_KEY").preflight()


def test_preflight_says_that_an_address_leads_nowhere():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        asker = ChatProposer(model="tested", base_url=f"http://{host}/v1", backoff=0.01)
        with pytest.raises(ServiceError, match=f"^{host} cannot be used: no connection .*refused"):
            asker.preflight()


def test_preflight_does_not_wait_for_silence(monkeypatch):
    monkeypatch.setattr(service_client, "PREFLIGHT", 0.5)
    with serve(*["silence"] * 5, lists=False, stall=9.0) as server:
        started = time.monotonic()
        with pytest.raises(ServiceError, match=r"no answer within 0.\d seconds"):
            proposer(server, timeout=120.0).preflight()
    assert time.monotonic() - started < 5.0


# Keys


@pytest.mark.parametrize("behaviour", [*REFUSALS, "reset", "silence", "html", "error in 200"])
def test_the_key_is_told_to_nobody_but_the_service(behaviour, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("A_KEY", CANARY)
    monkeypatch.setattr(service_client, "PREFLIGHT", 0.3)
    told = []
    with serve(*[behaviour] * 9, lists=False, stall=0.5) as server:
        asker = proposer(server, api_key_env="A_KEY", attempts=2, timeout=0.3)
        for call in (asker.preflight, lambda: asker.propose(request())):
            try:
                told.append(repr(call()))
            except (ServiceError, TransportError) as error:
                told.append("".join(traceback.format_exception(error)))
                told += everything(error)
        told += [repr(asker), repr(vars(asker)), caplog.text]
    assert server.exchanges[-1].headers["authorization"] == f"Bearer {CANARY}"
    assert not [text for text in told if CANARY in text or CANARY[:12] in text]


def everything(error):
    """What an exception and those behind it hold, shown or not."""
    while error is not None:
        assert type(error).__module__.partition(".")[0] in {"specahd", "builtins", "json"}
        yield repr(error)
        yield repr(vars(error))
        error = error.__cause__ or error.__context__


def test_no_other_service_gets_the_key_of_openai(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {CANARY}")
    monkeypatch.setenv("A_KEY", "another")
    with serve() as server:
        proposer(server).propose(request())
        proposer(server, api_key_env="A_KEY").propose(request())
    assert CANARY not in str([exchange.headers for exchange in server.exchanges])
    assert server.exchanges[1].headers["authorization"] == "Bearer another"


# Options


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("model", None),
        ("base_url", "127.0.0.1/v1"),
        ("base_url", "http://user:secret@host/v1"),
        ("base_url", "http://host:port/v1"),
        ("timeout", 0),
        ("timeout", float("nan")),
        ("attempts", "many"),
        ("deadline", 0),
        ("backoff", -1),
        ("patience", True),
        ("input_price", -0.5),
        ("output_price", -0.5),
        ("cached_input_price", -1),
        ("requests_per_minute", 0),
        ("tokens_per_minute", 2.5),
        ("stream", "yes"),
        ("options", "hot"),
        ("options", {"seed": {1}}),
        ("options", {"n": 2}),
    ],
)
def test_an_option_out_of_range_is_refused_by_its_name(option, value):
    sound = {"model": "tested", "base_url": "http://127.0.0.1:1/v1"}
    with pytest.raises(ConfigError, match=rf"^Expected llm\.{option}\b") as refusal:
        ChatProposer(**(sound | {option: value}))
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("choice", ["openai", "local", "mixture"])  # of deepseek and glm
def test_every_service_of_conf_can_be_asked(choice, monkeypatch):
    register_schemas()
    for name in ("DEEPSEEK_API_KEY", "ZHIPUAI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, CANARY)
    named = ["llm.model=mine"] if choice == "local" else []
    options = [] if choice == "mixture" else ["+llm.options.thinking={type: disabled}"]
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose("train", [f"llm={choice}", *named, *options])
    assert CANARY not in repr(instantiate(config.llm))
