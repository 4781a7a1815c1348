"""What a level remembers: which records a request bears, and in which version."""

import numpy as np
import pytest

from specahd.core.errors import ConfigError, RunFailed
from specahd.core.program import Level, Program
from specahd.core.skill import Condition, Skill
from specahd.memory.memory import Memory
from specahd.memory.novelty import Verdict


class Plane:
    """An encoder that reads a vector off a program's idea, and counts how often it is asked."""

    def __init__(self):
        self.rows = []
        self.calls = 0

    def add(self, programs):
        self.calls += 1
        self.rows += [np.array(program.idea.split(), dtype=float) for program in programs]

    def cosines(self, position):
        rows = np.array(self.rows)
        lengths = np.linalg.norm(rows, axis=1)
        return rows @ rows[position] / (lengths * lengths[position])


def program(name, angle):
    idea = f"{np.cos(np.radians(angle))} {np.sin(np.radians(angle))}"
    return Program(
        name, Level.LOWER, f"def f():\n    return {angle}\n", idea, "m1", contract="append"
    )


PARENT = program("parent", 0)


def skill(child, version=1):
    return Skill(child, PARENT, version, "change", 10, 3, 1, 0.5, (Condition("size", 1.2),))


def remembering(angles, **options):
    memory = Memory({"plane": Plane()}, fuse=1, **options)
    children = [program(f"child-{angle}", angle) for angle in angles]
    for child in (PARENT, *children):
        memory.judge(child)
    for child in children:
        memory.learn(skill(child))
    return memory, children


def test_the_nearest_records_come_first_and_no_more_than_asked_for():
    memory, children = remembering([60, 10, 30, 80], skills=3)
    assert [one.program.id for one in memory.retrieve(PARENT)] == [
        "child-10",
        "child-30",
        "child-60",
    ]
    # Its own record is nearest of all.
    assert memory.retrieve(children[0])[0].program == children[0]


def test_its_own_record_comes_first_even_if_newer_ones_are_as_near():
    memory, (own, *_) = remembering([30, 30.0, 30.00], skills=2)
    assert memory.retrieve(own)[0].program == own
    blind = Memory(skills=1)
    for angle in (10, 20, 30):
        child = program(f"child-{angle}", angle)
        blind.judge(child)
        blind.learn(skill(child))
    assert blind.retrieve(program("child-10", 10))[0].program.id == "child-10"


def test_of_equally_near_records_the_newest_comes_first_and_replaces_its_older_version():
    memory, [old, new] = remembering([20, -20], skills=3)
    assert [one.program for one in memory.retrieve(PARENT)] == [new, old]
    assert memory.version(old) == 2
    memory.learn(skill(old, 2))
    assert [one.id for one in memory.retrieve(PARENT)] == ["child-20/2", "child--20/1"]
    assert memory.recall(["child-20/2"]) == (skill(old, 2),)


def test_without_insertions_nothing_is_encoded_or_borne():
    plane = Plane()
    memory = Memory({"plane": plane}, fuse=1, filter=False, skills=0)
    memory.judge(PARENT)
    assert memory.judge(program("other", 0)) == Verdict()
    memory.learn(skill(program("other", 0)))
    assert memory.retrieve(PARENT) == ()
    assert not memory.learns
    assert plane.calls == 0


def test_what_was_found_before_is_not_found_again():
    plane = Plane()
    memory = Memory({"plane": plane}, fuse=1, threshold=0.9, filter=True)
    memory.judge(PARENT)
    known = Verdict("parent", "parent", {"plane": 0.97, "fused": 0.97})
    assert memory.judge(program("again", 80), known) == known
    assert plane.calls == 0
    # What comes new is compared with all, in one go.
    assert memory.judge(program("new", 81)).nearest == "again"
    assert plane.calls == 1


def test_only_the_first_encoders_are_fused():
    first, second = Plane(), Plane()
    memory = Memory({"first": first, "second": second}, fuse=1, threshold=1.0, filter=True)
    memory.judge(PARENT)
    assert memory.judge(program("next", 60)).similarity == {"first": 0.5, "fused": 0.5}
    assert second.calls == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [("fuse", 0), ("fuse", 2), ("fuse", True), ("filter", 1), ("skills", -1), ("skills", 0.5)],
)
def test_a_value_out_of_range_is_refused_by_its_name(option, value):
    with pytest.raises(ConfigError, match=rf"^Expected memory\.{option} "):
        Memory({"plane": Plane()}, **{"fuse": 1, option: value})


def test_a_record_that_does_not_come_again_ends_the_run():
    memory, _ = remembering([20], skills=1)
    with pytest.raises(RunFailed, match="names a skill record"):
        memory.recall(["child-20/1", "child-20/2"])


def test_similarities_have_six_decimals_by_encoder_and_in_the_mean():
    class Turned(Plane):
        """Sees a quarter of what there is."""

        def cosines(self, position):
            return super().cosines(position) / 4

    memory = Memory({"plane": Plane(), "quarter": Turned()}, fuse=2, threshold=1.0, filter=True)
    memory.judge(PARENT)
    # The cosine of 61 degrees is 0.4848096...
    expected = {"plane": 0.48481, "quarter": 0.121202, "fused": 0.303006}
    assert memory.judge(program("next", 61)).similarity == expected
