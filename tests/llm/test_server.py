"""The server's own promises, on which other tests build."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from server_behaviour import BAD, FAULTS, Schedule, offline, spoilt

from offered import PROBLEMS, contract_of
from specahd.core.contract import Request
from specahd.core.program import Level
from specahd.llm.client import ChatProposer
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import ParseError, parse_reply
from specahd.methods.eoh import INITIAL

CONTRACTS = {
    f"{problem} {level}": contract_of(problem, level) for problem in PROBLEMS for level in Level
}


@pytest.fixture(scope="module")
def answer():
    return offline(5)


@pytest.mark.parametrize("name", CONTRACTS)
def test_programs_are_written_for_the_contract_that_is_shown(name, answer):
    contract = CONTRACTS[name]
    shown = f"Write a program.\n```python\n{contract.document}```\nParent:\n{contract.seed.source}"
    text = answer(shown, f"{contract.level}-2-0017-abcdef")
    asked = Request(contract, 5, contract.level, 2, 17, INITIAL)
    assert text == OfflineProposer().propose(asked).text
    assert parse_reply(text, contract)


@pytest.mark.parametrize("behaviour", BAD)
@pytest.mark.parametrize("name", CONTRACTS)
def test_no_bad_reply_is_accepted(name, behaviour, answer):
    contract = CONTRACTS[name]
    for index in range(5):
        sample = f"{contract.level}-1-{index:04d}"
        with pytest.raises(ParseError):
            parse_reply(spoilt(answer(contract.document, sample), behaviour, sample), contract)


def test_the_schedule_keeps_its_shares_whatever_the_order():
    schedule = Schedule(seed=1, faults=0.1, bad=0.3)
    samples = [f"lower-1-{index:04d}" for index in range(2000)]
    bad = {sample: schedule.spoiling(sample) for sample in samples}
    faults = {sample: schedule.fault(sample, 0) for sample in samples}
    assert set(bad.values()) == {*BAD, None}
    assert set(faults.values()) == {*FAULTS, None}
    assert 0.26 < sum(behaviour is not None for behaviour in bad.values()) / 2000 < 0.34
    assert 0.08 < sum(behaviour is not None for behaviour in faults.values()) / 2000 < 0.12
    again = Schedule(seed=1, faults=0.5, bad=0.3)
    assert {sample: again.spoiling(sample) for sample in reversed(samples)} == bad
    assert {sample: Schedule(seed=2, bad=0.3).spoiling(sample) for sample in samples} != bad


def test_the_command_line_serves_and_counts(tmp_path):
    port_file = tmp_path / "port"
    command = [sys.executable, str(Path(__file__).parent / "server.py"), "--key", "k"]
    process = subprocess.Popen(
        [*command, "--port-file", str(port_file), "--seed", "3"], stdout=subprocess.PIPE, text=True
    )
    try:
        for _ in range(300):
            if port_file.exists():
                break
            time.sleep(0.05)
        address = f"http://127.0.0.1:{port_file.read_text()}"
        assert process.stdout.readline() == f"{address}/v1\n"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("A_KEY", "k")
            asker = ChatProposer("tested", f"{address}/v1", "A_KEY")
        asker.preflight()
        contract = CONTRACTS[f"cvrp {Level.UPPER}"]
        asked = Request(contract, 0, Level.UPPER, 1, 0, INITIAL, prompt=contract.document)
        assert parse_reply(asker.propose(asked).text, contract)
        with urllib.request.urlopen(f"{address}/counts") as counts:
            assert json.load(counts) == {"good": 1}
    finally:
        process.terminate()
        process.communicate()
