"""What a language model is told: golden files of every prompt, and claims that hold.

After a wanted change of words: SPECAHD_GOLDEN=write pytest tests/search/test_prompts.py
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from offered import PROBLEMS, REGIONAL, problem
from specahd.core.contract import Context, Operator, Parent, Request, Treatment
from specahd.core.program import Level, Outcome, Program
from specahd.core.skill import Condition, Skill
from specahd.llm.parsing import parse_reply
from specahd.memory.diff import described
from specahd.methods.eoh import OPERATORS
from specahd.routing.base import contracts
from specahd.sandbox.guard import guard
from specahd.search.prompts import MAX_IDEA, render
from specahd.search.prompts import described as described_by

GOLDEN = Path(__file__).parent / "golden"
MADE = {name: problem(name) for name in REGIONAL}
CONTRACTS = {
    (name, level): contracts(problem.operator)[level]
    for name, problem in MADE.items()
    for level in Level
}
NEAR_TO_LATER = """\
    gain = distance_matrix[0, unvisited_nodes] - distance_matrix[current_node, unvisited_nodes]
    best = np.argmax(gain)
"""
IDEAS = {
    "select_tsp_segments": (
        "Rebuild around the longest step of the tour.",
        """\
    steps = distance_matrix[route, np.roll(route, -1)]
    start = int(np.argmax(steps)) - max_segment_size // 2
    return [np.roll(route, -start)[:max_segment_size]]
""",
    ),
    "generate_customer_groups": (
        "Rebuild the routes with the fewest customers together.",
        """\
    group = []
    for route in sorted(routes, key=len):
        if len(group) + len(route) <= max_size:
            group.extend(route.tolist())
    return [group]
""",
    ),
    "generate_delivery_groups": (
        "Rebuild customers that several vehicles visit.",
        """\
    visits = np.bincount(np.concatenate(routes), minlength=len(demands))
    return [np.flatnonzero(visits > 1)[:max_size].tolist()]
""",
    ),
    "select_customer_groups": (
        "Repair each customer alone whose removal gains most.",
        """\
    size = min(max_groups, len(demands) - 1)
    groups = np.zeros(2 * size, np.int64)
    groups[::2] = np.argsort(-removal_gains[1:])[:size] + 1
    return groups
""",
    ),
    "select_position": (
        "Insert at the roomiest position that few others undercut.",
        """\
    best = int(np.argmin(detours))
    for position in range(len(detours)):
        if detours[position] <= 1.1 * detours[best] and rests[position] > rests[best]:
            best = position
    return best
""",
    ),
    "select_next_node": (
        "Visit the node that saves most against coming from node 0.",
        NEAR_TO_LATER + "    return int(unvisited_nodes[best])\n",
    ),
    "select_next_delivery": (
        "Visit the customer that saves most against coming from the depot, and leave all that "
        "fits.",
        NEAR_TO_LATER
        + "    customer = int(unvisited_nodes[best])\n"
        + "    return (customer, min(rest_capacity, int(residual_demands[customer])))\n",
    ),
}
ON_TOURS = {
    "select_customer_groups": (
        "Repair each node alone whose removal gains most.",
        """\
    size = min(max_groups, len(preceding) - 1)
    groups = np.zeros(2 * size, np.int64)
    groups[::2] = np.argsort(-removal_gains[1:])[:size] + 1
    return groups
""",
    ),
    "select_position": (
        "Insert into the longest edge that few others undercut.",
        """\
    best = int(np.argmin(detours))
    for position in range(len(detours)):
        if detours[position] <= 1.1 * detours[best] and edges[position] > edges[best]:
            best = position
    return best
""",
    ),
}


def shown(contract):
    """Return a reply to a request for the contract, and the program that it holds."""
    ideas = ON_TOURS if "TOUR" in (contract.compiled or "") else IDEAS
    idea, body = ideas[contract.name]
    reply = f"{{{idea}}}\n\ndef {contract.name}({', '.join(contract.arguments)}):\n{body}"
    source, idea = parse_reply(reply, contract)
    return Program(
        f"{contract.level}-1-0012", contract.level, source, idea, "e2", contract=contract.id
    )


def form(program, index, number):
    """Return a program of its own that has one line more than another."""
    head, body = program.source.split("\n", 1)
    return replace(
        program,
        id=f"{program.level}-2-{index:04d}",
        source=f"{head}\n    twice = {number}\n{body}",
        idea=f"Know {number}.",
    )


def records(contract, coordinates):
    """Return skill records of all kinds: with conditions, without, with failures, of no concern."""
    program = shown(contract)
    seed = contract.seed
    failure = Outcome.TIMEOUT if contract.level is Level.LOWER else Outcome.EMPTY_REGIONS
    tried, like, parent = (form(program, index, 2 + index) for index in (3, 5, 6))
    kinds = (
        (
            (program, seed, 1, described(program, seed), 64, 25, 12, 0.004321),
            {
                "helped": (Condition(coordinates[1], 1.24), Condition(coordinates[4], -0.87)),
                "failed": (Condition(coordinates[0], 1.61),),
            },
        ),
        ((tried, program, 2, described(tried, program), 64, 2, 5, -0.00101), {}),
        (
            (like, parent, 1, described(like, parent), 64, 0, 58, -0.0321),
            {
                "failed": (Condition(coordinates[2], -0.55),),
                "failures": {failure: 7, Outcome.CRASHED: 1},
            },
        ),
        # Another program, not another form of this one; and a change that is not of its kind.
        ((form(seed, 7, 9), program, 1, "Start anew.", 64, 9, 9, 0.09), {}),
        ((form(seed, 8, 9), seed, 1, "Know 9.", 64, 9, 9, 0.09), {}),
    )
    return tuple(Skill(*values, **more) for values, more in kinds)


CONTEXTS = {
    Level.LOWER: Context(
        (
            "61 regions of 24 instances of 20 to 60 (41 on average) customers. A region has 5 to "
            "50 (38 on average) customers, 61 % of its instance on average.",
            "The solutions to repair are those of the construction 'nearest', which cost 17.3 % "
            "more than those of 'savings'.",
        ),
        0.00421,
        0.0234,
        {"lower-1-0012": "it saves something on 50 of 61 regions, fails on 2 (timeout)"},
    ),
    Level.UPPER: Context(
        ("Each proposal is rebuilt by one program: Visit the nearest customer.",),
        0.00421,
        0.0234,
        {"upper-1-0012": "it saves 1.250 %, penalties take 0.016 points"},
        "Take the customers of the two emptiest routes.",
    ),
}


def request(contract, operator, **more):
    parents = (Parent(shown(contract), 0.012345), Parent(contract.seed, 0.00421))
    return Request(
        contract=contract,
        seed=0,
        level=contract.level,
        round=2,
        index=17,
        operator=OPERATORS[operator],
        parents=parents[: OPERATORS[operator].parents],
        **more,
    )


NAMES = ("log_size", "elongation", "slack", "detour", "edge_mean")
CASES = [(problem, level, operator) for problem, level in CONTRACTS for operator in OPERATORS]


@pytest.mark.parametrize(
    ("problem", "level", "operator"), CASES, ids=["-".join(case) for case in CASES]
)
def test_the_whole_prompt(problem, level, operator):
    contract = CONTRACTS[problem, level]
    told = records(contract, MADE[problem].descriptor_names) if OPERATORS[operator].skills else ()
    context = CONTEXTS[level]
    prompt = render(request(contract, operator, skills=told, context=context))
    path = GOLDEN / f"{problem}-{level}-{operator}.txt"
    if os.environ.get("SPECAHD_GOLDEN") == "write":
        path.write_text(prompt, encoding="utf-8")
    assert prompt == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over():
    assert {path.stem for path in GOLDEN.iterdir()} == {"-".join(case) for case in CASES}


@pytest.fixture(params=CONTRACTS, ids="-".join)
def contract(request):
    return CONTRACTS[request.param]


def test_programs_bear_numbers_and_not_their_identifiers(contract):
    prompt = render(request(contract, "e1"))
    assert "Program 1, score 1.234 %. Its idea: " + shown(contract).idea in prompt
    assert "Program 2, score 0.421 %. Its idea: " + contract.seed.idea in prompt
    assert "as different as possible from programs 1 and 2:" in prompt
    assert "-seed" not in prompt
    assert "0012" not in prompt
    assert "0017" not in prompt


def test_what_all_requests_of_a_level_share_comes_first(contract):
    prompts = [render(request(contract, operator)) for operator in OPERATORS]
    shared = prompts[0][: prompts[0].index(OPERATORS["i1"].instruction)]
    assert all(prompt.startswith(shared) for prompt in prompts)
    assert contract.task in shared
    assert contract.document in shared
    assert "Rules:" in shared


def test_a_prompt_is_plain_text_and_short(contract):
    for operator in OPERATORS:
        told = records(contract, NAMES) if OPERATORS[operator].skills else ()
        context = CONTEXTS[contract.level]
        prompt = render(request(contract, operator, skills=told, context=context))
        assert prompt.isascii()
        assert not re.search(r"[ \t]\n|\n\n\n|\{parents\}", prompt)
        assert len(prompt.split()) < 1600


def test_an_answer_in_the_form_asked_for_is_one_program(contract):
    prompt = render(request(contract, "i1"))
    form = prompt[prompt.index("{The idea") :].replace("...", "return []")
    source, idea = parse_reply(form, contract)
    assert idea == "The idea in one sentence."
    assert guard(source, contract.name, contract.arguments) is None


def test_an_operator_may_ask_for_an_analysis_before_the_idea(contract):
    asked = request(contract, "m1")
    plain = render(asked)
    operator = replace(asked.operator, analysis="first its weaknesses in square brackets")
    prompt = render(replace(asked, operator=operator))
    assert "in exactly this form: first its weaknesses in square brackets, then one" in prompt
    assert "in exactly this form: one sentence in braces" in plain
    form = prompt[prompt.index("{The idea") :].replace("...", "return []")
    reply = f"[It is weak where demand = 0.\nx = 1 would not help.]\n{form}"
    assert parse_reply(reply, contract)[1] == "The idea in one sentence."


def test_the_programs_of_the_golden_files_may_run(contract):
    assert guard(shown(contract).source, contract.name, contract.arguments) is None


def test_a_program_drawn_twice_is_shown_once(contract):
    parent = Parent(contract.seed, 0.01)
    prompt = render(replace(request(contract, "e2"), parents=(parent, parent)))
    assert "Program 1, score" in prompt
    assert "Program 2, score" not in prompt
    assert "the core of program 1." in prompt


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


def test_what_was_measured_stands_before_and_beside_the_programs(contract):
    context = CONTEXTS[contract.level]
    prompt = render(request(contract, "e1", context=context))
    known = "\n".join(f"- {fact}" for fact in context.facts)
    scores = "- The example above scores 0.421 %, the best program so far scores 2.340 %."
    if context.best_idea:
        scores += f"\n- The idea of the best: {context.best_idea}"
    assert f"\n\nFacts of this round:\n{known}\n{scores}\n\nProgram 1, score" in prompt
    [beside] = context.measured.values()
    assert f"Program 1, score 1.234 %: {beside}. Its idea: " in prompt
    assert "Program 2, score 0.421 %. Its idea: " in prompt


@pytest.mark.parametrize(
    ("operator", "score", "example", "best", "wasted"),
    [
        ("m2", 0.009, 0.01, 0.05, True),
        ("m3", 0.009, 0.01, 0.05, True),
        ("m2", 0.010, 0.01, 0.05, False),
        ("m2", 0.024, None, 0.05, True),
        ("m3", 0.026, None, 0.05, False),
        ("m2", 0.001, None, None, False),
        ("m1", 0.001, 0.01, 0.05, False),
    ],
)
def test_a_weak_program_is_not_to_be_refined(operator, score, example, best, wasted):
    contract = CONTRACTS["cvrp", Level.LOWER]
    context = Context(example=example, best=best)
    asked = replace(
        request(contract, operator, context=context), parents=(Parent(shown(contract), score),)
    )
    prompt = render(asked)
    instruction = OPERATORS[operator].instruction.replace("{parents}", "program 1")
    assert (instruction in prompt) is not wasted
    assert ("write a program that decides in a better way." in prompt) is wasted


def test_records_bear_no_identifiers(contract):
    prompt = render(request(contract, "m1", skills=records(contract, NAMES)))
    assert not re.search(r"(lower|upper)-\d|-seed", prompt)


@pytest.mark.parametrize(
    ("score", "text"),
    [(0.0, "0.000 %"), (-1e-9, "0.000 %"), (-0.0051, "-0.510 %"), (1.0, "100.000 %")],
)
def test_scores_are_percentages(score, text):
    contract = CONTRACTS["cvrp", Level.UPPER]
    parents = (Parent(contract.seed, score),)
    assert f", score {text}." in render(replace(request(contract, "m1"), parents=parents))


def test_a_rambling_idea_does_not_fill_later_prompts():
    contract = CONTRACTS["cvrp", Level.LOWER]
    rambler = replace(contract.seed, idea="Near customers first. " * 4000)
    prompt = render(replace(request(contract, "m1"), parents=(Parent(rambler, 0.01),)))
    [idea] = re.findall(r"Its idea: (.*)", prompt)
    assert idea.endswith(" ...")
    assert len(idea) <= MAX_IDEA


CLAIMED = {
    "np.random": "return np.random.rand()",
    "np.empty": "return np.empty(3)",
    "np.vectorize": "return np.vectorize(a)",
    "nested functions": "def g(): return 1",
    "classes": "class C: pass",
    "recursion": "return f(a)",
    "try": "try: pass\n    except: pass",
    "raise": "raise a",
    "with": "with a: pass",
    "del": "del a[0]",
    "match": "match a:\n        case 1: pass",
    "yield": "yield 1",
    "global": "global x",
    "nonlocal": "nonlocal x",
    ":=": "return (x := a)",
    "f-strings": "return f'{a}'",
    "no others": "return str(a)",
    "where=": "return np.log(a, where=a > 0)",
    "ASCII": "return 'é'",
    "no other module": "return heapq.nsmallest(3, a)",
}


@pytest.mark.parametrize("word", CLAIMED)
def test_what_the_prompt_rules_out_is_refused(word):
    rules = re.search(r"Rules:\n(?:- .*\n)+", render(request(CONTRACTS["cvrp", Level.LOWER], "i1")))
    assert word in rules.group()
    assert guard(f"def f(a):\n    {CLAIMED[word]}\n", "f", ["a"]) is not None


@pytest.mark.parametrize(
    "line",
    [
        "return min(a, key=lambda node: a[node])",
        "return [math.hypot(x, y) for x, y in zip(a, a)]",
        "return np.linalg.norm(a) + np.linalg.solve(a, a) + np.linalg.eigh(a) + np.linalg.svd(a)",
        "return np.divide(a, a, out=np.zeros(3), where=a > 0)",
        "a = a.copy()\n    a[0] = 1\n    return a",
    ],
)
def test_what_the_prompt_allows_is_allowed(line):
    assert guard(f"def f(a):\n    {line}\n", "f", ["a"]) is None


REFLECT = Operator("reflect", "Say why {parents} differ.", 2, Treatment.DESCRIBE)


def test_a_request_for_a_text_asks_for_no_program(contract):
    prompt = render(replace(request(contract, "e1"), operator=REFLECT))
    assert contract.task in prompt
    assert "Program 2, score 0.421 %." in prompt
    assert "Rules:" not in prompt
    assert "Answer in exactly this form" not in prompt
    assert prompt.endswith(
        "Say why programs 1 and 2 differ.\n\nAnswer with plain text only: no program, no code.\n"
    )


def test_hints_stand_between_programs_and_instruction(contract):
    hints = "Near customers {first} were better."
    with_them = render(request(contract, "m1", hints=hints))
    assert with_them.replace(hints + "\n\n", "") == render(request(contract, "m1"))
    places = [with_them.index(part) for part in ("Program 1, score", hints, "Modify the structure")]
    assert places == sorted(places)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_prompt_promises_no_gain_where_a_loss_may_stay(problem):
    contract = CONTRACTS[problem, Level.UPPER]
    improving, feasible = (
        " ".join(render(request(each, "i1")).split()) for each in (contract, contract.with_dearer())
    )
    passage, instead = (" ".join(words.split()) for words in contract.cheaper)
    assert passage in improving
    assert feasible == improving.replace(passage, instead)
    assert not re.search(
        "only if|cheaper|shorter", feasible.split("Parameters")[0].split("def ")[1]
    )


def test_a_passage_that_is_not_there_is_a_mistake(contract):
    with pytest.raises(ValueError, match="does not say once"):
        replace(contract, cheaper=("never said", "")).with_dearer()
    assert replace(contract, cheaper=None).with_dearer() == replace(contract, cheaper=None)


def test_a_view_of_a_program_stands_in_place_of_its_idea_and_code(contract):
    asked = request(contract, "e2")
    plain = render(asked)
    first, *others = (parent.program for parent in asked.parents)
    views = ("Half of it is gone.", *(described_by(one.idea, one.source) for one in others))
    prompt = render(asked, views)
    assert prompt == plain.replace(described_by(first.idea, first.source), views[0])
    assert "Half of it is gone." in prompt
    twice = render(replace(asked, parents=asked.parents[:1] * 2), ("Seen.", "Seen."))
    assert twice.count("Seen.") == 1
