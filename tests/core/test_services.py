import pytest

from specahd.core.errors import ConfigError
from specahd.core.services import STORE_VARIABLE, check_store, without_password

SECRET = [
    "http://host/?password=canary",
    "postgresql://host/db?user=me&password=canary",
    "mysql://host/db?ssl_key=canary",
    "http://host/;token=canary",
    "postgresql://user:can/ary@host/db",
    "postgresql://user:can@ary@host/db",
]


@pytest.mark.parametrize("uri", SECRET)
def test_a_password_in_any_place_of_an_address_is_refused_and_masked(uri, monkeypatch):
    with pytest.raises(ConfigError, match="set MLFLOW_TRACKING_URI to the address") as refusal:
        check_store({"uri": uri})
    for text in (str(refusal.value), without_password(f"Cannot reach {uri} today.")):
        assert not [piece for piece in ("canary", "can/", "ary@") if piece in text]
    assert without_password(f"Cannot reach {uri} today.").endswith(" today.")
    # The variable's address is not stored.
    monkeypatch.setenv(STORE_VARIABLE, uri)
    check_store({"uri": uri})


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:///mlruns/mlflow.db",
        "sqlite:////home/me@work/a:b/mlflow.db",
        "http://127.0.0.1:5000/mlflow?timeout=5",
        "postgresql://me@host:5432/db",
    ],
)
def test_an_address_without_a_password_is_accepted_as_it_is(uri):
    check_store({"uri": uri})
    assert without_password(uri) == uri


@pytest.mark.parametrize("uri", ["", None, 5])
def test_a_store_without_an_address_is_refused(uri):
    with pytest.raises(ConfigError, match=r"Expected tracking\.uri, or MLFLOW_TRACKING_URI, to be"):
        check_store({"uri": uri})


def test_a_password_of_plain_characters_is_masked():
    address = "http://user:canary@host:5000/x"
    assert without_password(address) == "http://user:***@host:5000/x"
    # What every message masks may be stored.
    check_store({"uri": address})
