import pytest

from specahd.core.errors import ConfigError, FileError
from specahd.llm.keys import KEY_FILE, find_key, require_keys

SECRET = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    monkeypatch.delenv(KEY_FILE, raising=False)


def keep(tmp_path, monkeypatch, content):
    path = tmp_path / "key.txt"
    path.write_bytes(content)
    monkeypatch.setenv(KEY_FILE, str(path))
    return path


def test_the_variable_goes_before_the_file(tmp_path, monkeypatch):
    path = keep(tmp_path, monkeypatch, b"of-the-file\r\n")
    key = find_key("A_KEY", "host")
    assert (key.value, key.source) == ("of-the-file", str(path))
    monkeypatch.setenv("A_KEY", f" {SECRET}\n")
    key = find_key("A_KEY", "host")
    assert (key.value, key.source) == (SECRET, "A_KEY")
    assert SECRET not in repr(key)


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_without_a_key_the_message_says_where_one_may_be(value, monkeypatch):
    if value is not None:
        monkeypatch.setenv("A_KEY", value)
    with pytest.raises(ConfigError, match=f"key of host .* A_KEY.* {KEY_FILE} .*llm=offline"):
        find_key("A_KEY", "host")


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "none"))
    with pytest.raises(FileError, match=r"^Cannot read .*/none, which SPECAHD_API_KEY_FILE names"):
        find_key("A_KEY", "host")
    keep(tmp_path, monkeypatch, b"\xff\xfe")
    with pytest.raises(FileError, match="it is not text"):
        find_key("A_KEY", "host")


@pytest.mark.parametrize("value", [f"{SECRET}\n{SECRET}", f"Bearer {SECRET}", f"{SECRET}é"])
def test_what_is_no_key_is_not_repeated(value, tmp_path, monkeypatch):
    path = keep(tmp_path, monkeypatch, value.encode())
    with pytest.raises(ConfigError, match=f"one key .*{path}") as refusal:
        find_key("A_KEY", "host")
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    "variable", [SECRET, SECRET.replace("-", "_"), "0123456789abcdef", "0123abc.def", "", 5]
)
def test_a_key_in_place_of_a_variable_is_not_repeated(variable):
    with pytest.raises(ConfigError, match=r"llm\.api_key_env to name") as refusal:
        find_key(variable, "host")
    assert not variable or str(variable) not in str(refusal.value)


def test_a_key_without_a_name_is_for_one_service(tmp_path, monkeypatch):
    path = keep(tmp_path, monkeypatch, b"of-one-service-only")
    assert find_key("A_KEY", "one").value == find_key("A_KEY", "one").value
    told = rf"^The key in {path} is for one, so two is not sent it; set B_KEY, or .* B_KEY=KEY\.$"
    with pytest.raises(ConfigError, match=told):
        find_key("B_KEY", "two")
    monkeypatch.setenv("B_KEY", SECRET)
    assert find_key("B_KEY", "two").value == SECRET


def test_a_file_may_name_a_key_for_each_variable(tmp_path, monkeypatch):
    content = b"# Of the group.\nA_KEY=first==\n\nB_KEY= second \n"
    path = keep(tmp_path, monkeypatch, content)
    for variable, service, group, value in (
        ("A_KEY", "one", "llm", "first=="),
        ("B_KEY", "two", "llm", "second"),
        ("B_KEY", "three", "memory", "second"),
    ):
        key = find_key(variable, service, group)
        assert (key.value, key.source) == (value, str(path))
    with pytest.raises(ConfigError, match=r"key of four in .* C_KEY, or in a line C_KEY=KEY"):
        find_key("C_KEY", "four")
    keep(tmp_path, monkeypatch, b"A_KEY=first\nsecond")
    with pytest.raises(ConfigError, match="one key"):
        find_key("A_KEY", "one")


def test_a_mixture_does_not_share_the_key_of_a_file(tmp_path, monkeypatch):
    keep(tmp_path, monkeypatch, b"of-a-mixture")
    proposers = {
        name: {"api_key_env": f"{name.upper()}_KEY", "base_url": f"https://{name}/v1"}
        for name in ("one", "two")
    }
    with pytest.raises(ConfigError, match=r"is for one, so two is not sent it; set TWO_KEY"):
        require_keys({"proposers": proposers})


def test_the_file_is_not_for_other_services(monkeypatch, tmp_path):
    keep(tmp_path, monkeypatch, SECRET.encode())
    with pytest.raises(ConfigError, match=r"the key of there in .* A_KEY, "):
        find_key("A_KEY", "there", "memory")
