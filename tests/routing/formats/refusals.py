"""What every reader of a format says of a file in which one thing is wrong."""

import pytest

from specahd.core.errors import FileError


def assert_refused(read, path, text, old, new, message):
    """Have a reader refuse a text with one thing changed, in one sentence that names the file."""
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileError) as caught:
        read(path)
    sentence = str(caught.value)
    assert message in sentence
    assert sentence.startswith(f"{path}: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
