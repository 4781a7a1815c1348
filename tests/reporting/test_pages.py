"""The pages on one run: what they say, and that nothing of a model's reply can act in them."""

import json
import re

import pytest

from run_directories import lines, row, sample, write_run
from specahd.core.program import Level, Outcome
from specahd.reporting.family import read_family
from specahd.reporting.pages import lineage_page, read_routes, search_page

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def program(name, ticket, *parents, outcome="ok", **more):
    """Return a record of the lower level with a source of its own."""
    return {
        **sample("lower", 1, 0.1 * ticket, outcome), "sample": f"lower-1-{name}", "operator": "m1",
        "parents": list(parents), "source": f"def f():\n    return {ticket}\n", "idea": name,
        "score": 0.1 * ticket, **more,
    }  # fmt: skip


def measured(name, merged, round_=1):
    return {
        "sample": name, "round": round_, "outcome": "ok", "outcomes": ["ok", "ok"],
        "cost_before": [100.0, 100.0], "cost_merged": merged,
    }  # fmt: skip


@pytest.fixture
def run(tmp_path):
    samples = [
        program("a", 1),
        program("b", 2, "lower-1-a", "lower-seed"),
        program("c", 3, "lower-1-b", outcome="parse_error", source=None, reply=EVIL, detail=EVIL),
        program("d", 4, "lower-1-b", "lower-1-b", idea=EVIL),
    ]
    directory = write_run(tmp_path / "run", samples=samples)
    kept = {"repertoire": ["lower-1-b", "lower-seed"], "upper": "upper-seed", "J": 0.25}
    rounds = [{"record": "round", "round": each, **kept} for each in (1, 2)]
    lines(directory / "journal.jsonl", [*samples, *rounds])
    reply = {"sample": "lower-1-a", "prompt_tokens": 300, "completion_tokens": 12, "cost": 0.5}
    lines(directory / "wal.jsonl", [reply, {**reply, "sample": "reflection-1"}])
    carried = measured("lower-seed", [98.0, 98.0]) | {"carried": "lower-seed"}
    del carried["sample"]
    tasks = {"round": 1, "tasks": [{"key": "t", "case": 0, "nodes": [], "descriptor": []}]}
    merged = {"a": [96.0, 98.0], "b": [90.0, None], "d": [99.0, 120.0]}
    told = [measured(f"lower-1-{name}", costs) for name, costs in merged.items()]
    lines(directory / "responses.jsonl", [tasks, carried, *told])
    return directory


def test_a_gain_is_over_the_best_parent_as_their_round_measured_it(run):
    members = read_family(run).members
    gains = {name: member.gain for name, member in members.items()}
    # Mean scores: seed 0.02, a 0.03, b 0.05 (half of its tasks failed), d 0.005.
    assert gains["lower-1-a"] == pytest.approx(0.01)
    assert gains["lower-1-b"] == pytest.approx(0.02)
    assert gains["lower-1-d"] == pytest.approx(-0.045)
    assert (gains["lower-1-c"], gains["lower-seed"]) == (None, None)
    assert [members[f"lower-1-{name}"].generation for name in "abcd"] == [1, 2, 3, 3]
    assert members["lower-1-a"].tokens == 312


def test_every_program_counts_and_requests_beside_them_apart(run):
    family = read_family(run)
    outcomes = [each.outcome for each in family.requested()]
    assert outcomes == [Outcome.OK, Outcome.OK, Outcome.PARSE_ERROR, Outcome.OK]
    assert [each.sample for each in family.auxiliary] == ["reflection-1"]
    assert len(family.of(Level.LOWER)) == 5


def test_the_lineage_holds_each_program_with_its_relatives(run):
    page = lineage_page(run, "run")
    [text] = re.findall(r'id="programs">(.*?)</script>', page, re.DOTALL)
    programs = json.loads(text)
    assert programs["lower-1-b"]["parents"] == ["lower-1-a", "lower-seed"]
    assert programs["lower-1-b"]["children"] == ["lower-1-c", "lower-1-d"]
    assert programs["lower-1-c"]["reply"] == EVIL
    assert "gain +0.02" in programs["lower-1-b"]["facts"]
    assert page.count("<circle class=") - page.count('<circle class="ring"') == 5 + 5
    assert '<circle class="less"' in page.split('<figure class="tree">')[1]


def test_what_a_model_wrote_is_text_on_every_page(run):
    for page in (lineage_page(run, EVIL), search_page(run, EVIL)):
        assert "<img" not in page
        assert "<script>alert" not in page
        assert not re.search(r"https?://(?!www\.w3\.org/(2000/svg|1999/xlink)\b)", page)


def test_the_course_of_the_search_tells_what_was_spent_and_kept(run):
    page = search_page(run, "run")
    assert "4 of 4 tickets are used; 3 programs are ok; 2 rounds have ended" in page
    assert "624 tokens, 1 of money; 1 requests beside those for programs" in page
    assert "parse_error (1)" in page
    # New in the first round, kept in the second.
    assert '<td class="left">lower-seed</td><td><b>2</b></td><td>2</td>' in page


def test_a_run_that_has_just_begun_has_both_pages(tmp_path):
    directory = write_run(tmp_path / "run", samples=[], selection=(), validation=())
    lines(directory / "journal.jsonl", [])
    assert "0 of 4 tickets" in search_page(directory, "run")
    assert "All programs" in lineage_page(directory, "run")


def test_a_map_needs_nodes_of_a_plane_and_has_the_accepted_regions(tmp_path):
    ok = {"outcome": "ok"}
    steps = [ok | {"nodes": [1, 9], "accepted": True}, ok | {"nodes": [2]}]
    directory = write_run(tmp_path / "run", validation=[row("a", 3, 90.0) | {"steps": steps}])
    drawn = {"instance": "a", "coords": [[0, 0], [1, 0], [0, 1]], "before": [[1], [2]],
             "after": [[1, 2]], "cost_before": 4.0, "cost_after": 3.5}  # fmt: skip
    assert read_routes(directory) is None
    lines(directory / "routes.json", [drawn])
    assert read_routes(directory) == (drawn, [[1]])
    for other in ({"coords": [[0], [1], [2]]}, {"after": [[1, 3]]}, {"before": [], "after": []}):
        lines(directory / "routes.json", [drawn | other])
        assert read_routes(directory) is None
