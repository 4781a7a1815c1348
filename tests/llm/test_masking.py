import base64
from urllib.parse import quote

import pytest
from client_setup import CONTRACT, GOOD
from hypothesis import given
from hypothesis import strategies as st

from specahd.llm.faults import quote_foreign
from specahd.llm.keys import MASK, Key, mask_secret
from specahd.llm.parsing import parse_reply

SECRET = "sk-canary-0123456789abcdef"
KEY = Key(SECRET, "A_KEY")
SPELLINGS = {
    "as it is": str,
    "capitals": str.upper,
    "swapped": str.swapcase,
    "blanks": " ".join,
    "lines": lambda key: "\n".join(key[i : i + 5] for i in range(0, len(key), 5)),
    "quotes": lambda key: '" "'.join(key[i : i + 7] for i in range(0, len(key), 7)),
    "added up": lambda key: '"' + '" +\n    "'.join([key[:9], key[9:]]) + '"',
    "zero width": "\u200b".join,
    "wide letters": lambda key: "".join(chr(ord(c) + 0xFEE0) for c in key),
    "per cent": lambda key: "".join(f"%{ord(c):02X}" for c in key),
    "per cent twice": lambda key: "".join(f"%25{ord(c):02x}" for c in key),
    "of an address": lambda key: quote(key.replace("-", "/"), safe=""),
    "per cent signs": "%".join,
    "hexadecimal escapes": lambda key: "".join(f"\\x{ord(c):02x}" for c in key),
    "unicode escapes": lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    "entities": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "escaped lines": "\\n".join,
    "the first half": lambda key: key[:15],
    "the second half": lambda key: key[11:],
    "a name": lambda key: key.replace("-", "_"),
}


def letters(text):
    return "".join(filter(str.isalnum, text)).casefold()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_key_goes_however_it_is_spelt(spelling):
    told = SPELLINGS[spelling](SECRET)
    for before, after in (("", ""), ("Your key is ", ", and more."), ("x = (", ")\n")):
        text = KEY.mask_reply(f"{before}{told}{after}")
        assert text.startswith(before)
        assert text.endswith(after)
        assert len(text) <= len(before) + len(after) + 8
        assert MASK in text
        # What is written down is read again.
        assert KEY.mask_reply(text) == text
    assert not any(
        part in letters(quote_foreign(f"No: {told}", KEY)) for part in ("canary", "012345")
    )


def test_a_message_tells_no_piece_of_a_key():
    # As services quote keys: the first letters and the last ones.
    words = "Incorrect key: sk-canary****abcdef. Ask them."
    assert quote_foreign(words, KEY) == f"Incorrect key: {MASK}****{MASK}. Ask them"


def test_a_key_within_a_key_goes_too():
    assert KEY.mask_reply(f"{SECRET[:9]}{SECRET}{SECRET[9:14]}") == MASK


@pytest.mark.parametrize(("piece", "mask"), [(12, KEY.mask_reply), (6, KEY.mask_message)])
def test_a_key_nested_in_itself_without_end_leaves_nothing(piece, mask):
    start, half = letters(SECRET)[:piece], piece // 2
    nested = start[:half] * 1500 + start[half:] * 1500
    assert mask(nested) == MASK


def test_a_program_stays_a_program():
    assert KEY.mask_reply(GOOD) == GOOD
    constant = GOOD.replace("```python\n", f"```python\n# sent with {SECRET}\n", 1)
    assert parse_reply(KEY.mask_reply(constant), CONTRACT) == parse_reply(GOOD, CONTRACT)
    idea = KEY.mask_reply(GOOD.replace("{The", "{" + SECRET.upper() + ": The"))
    assert parse_reply(idea, CONTRACT)[1] == f"{MASK}: The nearest."


@pytest.mark.parametrize("word", ["EMPTY", "none", "ollama", "sk-1234", "sk-no-key-required"])
def test_what_local_servers_take_for_a_key_spoils_no_program(word):
    text = "required = 1234\nnone_is_empty = required % 12"
    assert Key(word, "A_KEY").mask_reply(text) == text
    assert word not in quote_foreign(f"not {word}", Key(word, "A_KEY"))


@given(st.text(), st.text(), st.integers(0, 3))
def test_what_is_masked_is_masked_already(before, after, gap):
    text = f"{before}{SECRET[:13]}{' ' * gap}{SECRET[13:]}{after}"
    once = mask_secret(text, SECRET, 12)
    assert letters(SECRET) not in letters(once)
    assert mask_secret(once, SECRET, 12) == once


def test_what_is_translated_is_not_found():
    # The limit of it: a service that means to hide the key can, and has it anyway.
    text = base64.b64encode(SECRET.encode()).decode()
    assert KEY.mask_reply(text) == text
