"""What a run directory tells a run that goes on."""

from math import isnan

import pytest

from run_directories import lines
from specahd.core.errors import FileError
from specahd.search.replay import Replay


def test_how_each_candidate_did_on_selection_is_recalled(tmp_path):
    rounds = [
        {"record": "round", "round": 1, "selection": 0.5},
        {"record": "round", "round": 2, "selection": 1, "selection_failed": 2},
        {"record": "round", "round": 3, "selection": None, "selection_failed": 3},
    ]
    lines(tmp_path / "journal.jsonl", rounds)
    found = Replay.read(tmp_path).selection
    assert (found[1], found[2]) == ((0.5, 0), (1.0, 2))
    assert isnan(found[3][0])
    assert found[3][1] == 3


@pytest.mark.parametrize("field", [{"selection": "much"}, {"selection": 1, "selection_failed": ""}])
def test_a_round_that_no_run_wrote_is_refused(tmp_path, field):
    lines(tmp_path / "journal.jsonl", [{"record": "round", "round": 1, **field}])
    with pytest.raises(FileError, match="selection"):
        Replay.read(tmp_path)
