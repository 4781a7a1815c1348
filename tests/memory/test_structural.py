"""The structural filter: what it sees as alike, in how far, and the same everywhere."""

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher

from offered import PROBLEMS, contract_of
from specahd.core import journal
from specahd.core.errors import ConfigError
from specahd.core.program import Level, Program, canonical_source
from specahd.core.syntax import parse
from specahd.llm.grammar import Grammar
from specahd.memory.memory import FUSED
from specahd.memory.structural import structural
from specahd.memory.views import VIEWS, bin_number, idea, local_names, syntax
from test_commands import SMALL, call

CONTRACTS = [contract_of(name, level) for name in PROBLEMS for level in Level]
GRAMMARS = [Grammar(contract.vocabulary) for contract in CONTRACTS]


def drawn(position, seed, identifier="drawn"):
    """Draw a program from the vocabulary of a contract."""
    contract, grammar = CONTRACTS[position], GRAMMARS[position]
    derivation = grammar.draw_program(np.random.default_rng(seed))
    source = grammar.source(derivation, contract.name, contract.arguments)
    return Program(
        identifier, contract.level, source, grammar.idea(derivation), "i1", contract="append"
    )


def written(*lines, idea="Visit the nearest.", identifier="written"):
    [function] = parse("\n    ".join(["def f(a, b, m):", *lines])).body
    source = canonical_source(function)
    return Program(identifier, Level.LOWER, source, idea, "i1", contract="append")


def filtering(threshold, views=tuple(VIEWS)):
    return structural(views, fuse=len(views), threshold=threshold, filter=True)


def similarity(first, second, views=tuple(VIEWS)):
    novelty = filtering(1.0, views)
    novelty.judge(replace(first, id="first"))
    return novelty.judge(replace(second, id="second")).similarity


def renamed(program, prefix="zz_"):
    names = {name: f"{prefix}{i}" for i, name in enumerate(sorted(local_names(program.source)))}
    [function] = parse(program.source).body
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
    return replace(program, source=canonical_source(function))


contracts = st.integers(0, len(CONTRACTS) - 1)
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25)


@few
@given(contracts, seeds)
def test_renaming_the_locals_changes_no_view(position, seed):
    program = drawn(position, seed)
    other = renamed(program)
    assert all(value == 1.0 for value in similarity(program, other).values())
    for view in VIEWS.values():
        assert view(program) == view(other)


@few
@given(contracts, contracts, seeds, seeds)
def test_similarities_are_the_cosines_of_the_counts_in_either_order(one, two, seed, another):
    first, second = drawn(one, seed), drawn(two, another)
    found = similarity(first, second)
    assert found == similarity(second, first)
    assert found.keys() == {*VIEWS, FUSED}
    assert similarity(first, second, ["idea"]) == dict.fromkeys(("idea", FUSED), found["idea"])
    assert all(0 <= value <= 1 for value in found.values())
    hasher = FeatureHasher(2**16, alternate_sign=False)
    for name, view in VIEWS.items():
        rows = hasher.transform([view(first), view(second)]).toarray()
        cosine = rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1])
        assert found[name] == pytest.approx(cosine, abs=1e-6)


def syntax_similarity(one, other):
    found = similarity(written(*one), written(*other), ["syntax"])
    assert found.keys() == {"syntax", FUSED}
    return found["syntax"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["x = a + 1", "y = b * 2", "return x - y"], ["y = b * 2", "x = a + 1", "return x - y"]),
        (["return a * b + m.min()"], ["return np.min(m) + b * a"]),
        (["return a > b and m == 1"], ["return 1 == m and b < a"]),
        (["return a - b + m"], ["return m - (b - a)"]),
        (["return a * 3.31"], ["return a * 3.42"]),
        (["for i in m:", " a += i * b", "return a"], ["for k in m:", " a += b * k", "return a"]),
    ],
)  # fmt: skip
def test_the_syntax_view_forgets_what_means_the_same(one, other):
    assert syntax_similarity(one, other) == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["return a - b"], ["return b - a"]),
        (["return a > b"], ["return b > a"]),
        (["return m[:, 0]"], ["return m[:, 1]"]),
        (["return a * 3.3"], ["return a * 4.3"]),
        (["return a // b"], ["return b // a"]),
        (["return m.min(axis=0)"], ["return m.max(axis=0)"]),
        (["x = a", "y = b", "return x - 2 * y"], ["x = b", "y = a", "return x - 2 * y"]),
    ],
)
def test_the_syntax_view_sees_what_does_not(one, other):
    assert syntax_similarity(one, other) < 1.0


@few
@given(st.floats(1e-9, 1e9))
def test_a_bin_is_narrower_than_a_third(value):
    assert bin_number(value) == bin_number(float(f"{value:.7g}"))
    assert bin_number(value) != bin_number(value * 1.34)


def test_small_integers_and_what_no_float_holds_have_bins_of_their_own():
    assert [bin_number(number) for number in (0, 1, 2, 10)] == ["0", "1", "2", "10"]
    assert bin_number(11) == bin_number(12) == bin_number(12.4)
    assert bin_number(1.0) == bin_number(1.2)
    assert bin_number(0.0) == bin_number(-0.0) == "0"
    assert bin_number(0.0) != bin_number(8.5)
    assert bin_number(10**400) == bin_number(float("inf")) == "beyond"


def test_the_nearest_is_the_oldest_of_the_most_alike_and_the_verdict_names_it():
    novelty = filtering(0.996)
    far = written("return m[0] / 7", idea="Something else.", identifier="far")
    base = written("x = a - 3.31 * b", "return x + m", identifier="base")
    near = written("z = a - 3.42 * b", "return m + z", identifier="near")
    assert novelty.judge(far).nearest is None
    assert novelty.judge(base).duplicate_of is None
    verdict = novelty.judge(near)
    assert (verdict.duplicate_of, verdict.nearest) == ("base", "base")
    assert set(verdict.record) == {"duplicate_of", "nearest", "similarity"}
    # The one that was turned away is remembered, yet the older one is named.
    assert novelty.judge(replace(near, id="again")).nearest == "base"


def test_an_identical_tree_is_a_duplicate_whatever_its_idea():
    novelty = filtering(1.0)
    novelty.judge(written("return a", idea="Take the first.", identifier="first"))
    verdict = novelty.judge(written("return a", idea="Quite new!"))
    assert verdict.duplicate_of == "first"
    assert verdict.similarity["idea"] < 1


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), True, "x"])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(ConfigError, match=rf"^Expected memory\.threshold .*, got {threshold!r}\.$"):
        filtering(threshold)


@pytest.mark.parametrize("views", [["syntax", "syntax"], ["jina"]])
def test_views_that_do_not_exist_are_refused(views):
    with pytest.raises(ConfigError, match=r"^Expected memory\.encoders "):
        filtering(0.9, views)


def test_other_processes_and_hash_seeds_find_the_same(tmp_path):
    code = (
        "import json, sys\n"
        "from specahd.core.program import Level, Program\n"
        "from specahd.memory.structural import structural\n"
        "views = ['syntax', 'tokens', 'idea']\n"
        "novelty = structural(views, fuse=3, threshold=0.9, filter=True)\n"
        "for line in sys.stdin:\n"
        "    program = Program(*json.loads(line), contract='append')\n"
        "    print(json.dumps(novelty.judge(program).record))\n"
    )
    programs = [drawn(1, seed, f"p{seed}") for seed in range(12)]
    lines = "".join(
        json.dumps([p.id, p.level, p.source, p.idea, p.operator]) + "\n" for p in programs
    )
    answers = []
    for hash_seed in ("0", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", code], input=lines, text=True, capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed}, cwd=tmp_path,
        )  # fmt: skip
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    here = filtering(0.9)
    assert [json.loads(line) for line in answers[0].splitlines()] == [
        here.judge(program).record for program in programs
    ]


@pytest.mark.integration
def test_a_training_records_similarities(tmp_path):
    threshold = 0.9
    call(
        "train", *SMALL, "memory=structural", f"memory.threshold={threshold}",
        "budget.programs=24", "method=specahd_one_pass", "hydra.run.dir=run", cwd=tmp_path,
    )  # fmt: skip
    records = journal.read_records(tmp_path / "run" / "journal.jsonl")
    samples = [record for record in records if "sample" in record]
    known = {"lower-seed", "upper-seed"}
    turned_away = 0
    for record in samples:
        novelty = record["novelty"]
        assert novelty["similarity"].keys() == {*VIEWS, FUSED}
        assert novelty["nearest"] in known
        repeats = novelty["duplicate_of"] is not None
        assert repeats == (record["outcome"] == "duplicate")
        assert repeats or novelty["similarity"][FUSED] < threshold
        turned_away += repeats
        known.add(record["sample"])
    assert len(samples) == 24
    assert turned_away


def test_a_path_has_at_most_three_nodes():
    paths = syntax(written("return a * (m[0] - b // 7)"))
    assert {path.count("/") + 1 for path in paths} == {1, 2, 3}


def test_an_idea_is_its_words_and_their_pairs():
    assert idea(written("return a", idea="Near first, near last.")) == {
        "near": 2, "first": 1, "last": 1, "near first": 1, "first near": 1, "near last": 1,
    }  # fmt: skip
