import pytest

from specahd.core.errors import FileError
from specahd.routing.formats import sol


def test_reads_and_writes(data, tmp_path):
    routes, cost = sol.read(data / "tiny.sol")
    assert (routes, cost) == (((1, 3), (2, 4), (5,)), 206.0)
    assert sol.dumps(routes, cost) == (data / "tiny.sol").read_text()
    path = tmp_path / "x.sol"
    path.write_text(sol.dumps(routes, 206.25))
    assert sol.read(path) == (routes, 206.25)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("route 1 : 2 1 \r\n\r\ncost: 5.5\r\n", (((2, 1),), 5.5)),
        ("Route #1: 1\n", (((1,),), None)),
        ("Route #1:\nRoute #2: 1\n", (((), (1,)), None)),
    ],
)
def test_accepted_spellings(tmp_path, text, expected):
    path = tmp_path / "x.sol"
    path.write_text(text)
    assert sol.read(path) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no route"),
        ("Cost 5\n", "holds no route"),
        ("Route #1: 1 x\n", "line 1 holds 'x', expected customer numbers"),
        ("Route #1: 1 2.5\n", "line 1 holds '2.5'"),
        ("Route #1: 99999999999999999999\n", "expected customer numbers"),
        ("Route #1: 1\nCost e\n", "states the cost 'e'"),
        ("Route #1: 1\nute #2: 2\n", "line 2 is 'ute #2: 2', expected"),
        ("\0\1\2", "got binary data"),
    ],
)
def test_malformed_solution(tmp_path, text, message):
    path = tmp_path / "x.sol"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        sol.read(path)
