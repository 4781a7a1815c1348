"""What a prompt tells of skill records that the golden files do not have."""

from dataclasses import replace

from sample_requests import NAMES, records, request

from specahd.search.prompts import render


def lessons(contract, operator, skills):
    """Return the lines that a prompt has of skill records, below their heading."""
    parts = render(request(contract, operator, skills=skills)).split("\n\n")
    [section] = [part for part in parts if part.startswith("What earlier changes")]
    heading, *lines = section.split("\n")
    # What conditions mean is explained where there are any.
    assert ("standard deviations" in heading) == any(one.helped or one.failed for one in skills)
    return lines


def test_the_record_of_a_parent_tells_how_it_came_about(either):
    told = records(either, NAMES)
    own, other, _ = lessons(either, "m2", told)
    assert "too much was changed to be listed" in own
    assert lessons(either, "m2", told[1:])[0] == other
    skill = replace(told[1], program=told[0].program, parent=told[1].program)
    [own] = lessons(either, "m2", (skill,))
    assert own.startswith("- How program 1 came about: gone `twice = 5`. Mean gain")


def test_changes_of_other_programs_are_no_evidence(either):
    unconcerned = records(either, NAMES)[3:]
    assert render(request(either, "m1", skills=unconcerned)) == render(request(either, "m1"))
