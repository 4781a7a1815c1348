"""A server of one's own, whose model nobody named."""

import pytest
from client_setup import CANARY, serve
from omegaconf import OmegaConf

from specahd.config.files import declared_options
from specahd.config.preflight import name_models
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
    ("server", "told"),
    [
        ({"models": ("small", "large")}, r"2 models; set llm\.model .*: small, large"),
        ({"models": ()}, r"no model; set llm\.model"),
        ({"models": ("mine",), "lists": False}, r"no model; set llm\.model"),
        ({"key": CANARY}, r"wants a key; set llm\.api_key_env"),
    ],
)
def test_without_one_alone_what_to_set_is_told(server, told):
    with serve(**server) as fake, pytest.raises(ServiceError, match=told):
        named(fake.url)


def test_a_server_that_is_away_is_named():
    with pytest.raises(ServiceError, match=r"^127\.0\.0\.1:9 cannot be used: no connection"):
        named("http://127.0.0.1:9/v1", backoff=0.01)
