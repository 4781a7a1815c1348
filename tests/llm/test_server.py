"""What other tests build on: which samples meet which misbehaviour."""

from server_behaviour import BAD, FAULTS, Schedule


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
