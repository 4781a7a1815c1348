"""A server of one's own, whose model nobody named."""

import pytest
from client_setup import CANARY, serve
from omegaconf import OmegaConf

from specahd.config.files import declared_options
from specahd.config.models import name_models
from specahd.core.errors import ServiceError


def named(url, **given):
    config = OmegaConf.create({**declared_options("llm", "local"), "base_url": url, **given})
    name_models(config)
    return config.model


def test_the_only_model_is_meant_and_a_name_stands():
    with serve(models=("mine",)) as server:
        assert named(server.url) == "mine"
        assert named(server.url, model="yours") == "yours"
        mixture = OmegaConf.create(
            {"proposers": {"a": {"model": None, "base_url": server.url}, "b": {}}}
        )
        name_models(mixture)
        assert mixture.proposers.a.model == "mine"
        assert server.exchanges == []


@pytest.mark.parametrize(
    ("models", "lists", "sentence"),
    [
        (("small", "large"), True, "has 2 models; set llm.model to one of them: small, large."),
        ((), True, "lists no model; set llm.model to one of its own."),
        (("mine",), False, "lists no model; set llm.model to one of its own."),
    ],
)
def test_without_one_alone_the_choices_are_told(models, lists, sentence):
    with serve(models=models, lists=lists) as server, pytest.raises(ServiceError) as refusal:
        named(server.url)
    assert str(refusal.value).endswith(sentence)


def test_a_server_that_is_away_or_wants_a_key_gets_one_sentence():
    with pytest.raises(ServiceError, match=r"^127\.0\.0\.1:9 cannot be used: no connection .*\.$"):
        named("http://127.0.0.1:9/v1")
    with serve(key=CANARY) as server, pytest.raises(ServiceError, match=r"wants a key; set llm\."):
        named(server.url)
