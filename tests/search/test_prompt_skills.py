"""What a prompt tells of skill records."""

import re
from dataclasses import replace

from sample_requests import NAMES, records, request

from specahd.core.program import Level
from specahd.search.prompts import render


def lessons(prompt):
    """Return the lines of the section that the skill records make."""
    [section] = [part for part in prompt.split("\n\n") if part.startswith("What earlier changes")]
    return section.split("\n")


def test_skill_records_are_a_section_of_their_own(contract):
    with_them = render(request(contract, "m1", skills=records(contract, NAMES)))
    without = render(request(contract, "m1"))
    section = "\n".join(lessons(with_them)) + "\n\n"
    assert with_them.replace(section, "") == without != with_them
    assert with_them.index("Program 1, score") < with_them.index(section)
    assert with_them.index(section) < with_them.index("Modify the structure")


def test_the_record_of_a_parent_tells_how_it_came_about(contract):
    told = records(contract, NAMES)
    _, own, other, _ = lessons(render(request(contract, "m2", skills=told)))
    assert own.startswith("- How program 1 came about: too much was changed to be listed. Mean")
    assert other.startswith("- Tried on program 1: Know 5. Code: new `twice = 5`. Mean gain")
    _, first, *_ = lessons(render(request(contract, "m2", skills=told[1:])))
    assert first == other
    skill = replace(told[1], program=told[0].program, parent=told[1].program)
    _, own = lessons(render(request(contract, "m2", skills=(skill,))))
    assert own.startswith("- How program 1 came about: gone `twice = 5`. Mean gain")


def test_changes_of_other_programs_are_no_evidence(contract):
    told = records(contract, NAMES)
    prompt = render(request(contract, "m1", skills=told))
    assert (
        "- On a program like it: Know 7. Code: `twice = 8` became `twice = 7`. Mean gain" in prompt
    )
    assert "Start anew" not in prompt
    assert "Know 9" not in prompt
    assert "What earlier changes" not in render(request(contract, "m1", skills=told[3:]))
    assert "standard deviations" not in render(request(contract, "m1", skills=told[1:2]))


def test_a_record_says_what_was_measured_and_nothing_that_was_not(contract):
    units = {Level.LOWER: "regions", Level.UPPER: "instances"}[contract.level]
    prompt = render(request(contract, "m3", skills=records(contract, NAMES)))
    _, own, second, third = lessons(prompt)
    assert own.endswith(
        f"Mean gain +0.432 %, better on 25 and worse on 12 of 64 {units}. Helped where "
        "elongation +1.2 sd, edge mean -0.9 sd. Failed where log size +1.6 sd."
    )
    assert second.endswith(f"Mean gain -0.101 %, better on 2 and worse on 5 of 64 {units}.")
    assert "Helped" not in third
    failure = {Level.LOWER: "timeout", Level.UPPER: "empty regions"}[contract.level]
    assert third.endswith(f"Failed where slack -0.6 sd. No answer on 7 ({failure}), 1 (crashed).")


def test_records_bear_no_identifiers(contract):
    prompt = render(request(contract, "m1", skills=records(contract, NAMES)))
    assert not re.search(r"(lower|upper)-\d|-seed", prompt)
