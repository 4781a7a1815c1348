"""A provider that a user adds: one file of configuration."""

from pathlib import Path

import pytest
from server import Server
from server_behaviour import offline

from specahd.core import journal
from test_commands import SMALL, call

ADDED = Path(__file__).parent / "added"


def test_a_provider_is_one_file_of_configuration(tmp_path):
    options = [f"hydra.searchpath=[file://{ADDED}]", "llm=own", *SMALL, "hydra.run.dir=run"]
    with Server(offline(1)) as fake:
        call("train", *options, cwd=tmp_path, env={"OWN_PROVIDER_URL": fake.url})
        assert fake.counts["good"] == 12
    replies = list(journal.read_records(tmp_path / "run" / "wal.jsonl"))
    assert len(replies) == 12
    for reply in replies:
        spent = reply["prompt_tokens"] + 2 * reply["completion_tokens"]
        assert reply["cost"] == pytest.approx(spent / 1e6)
        assert spent > 0
