import json
from collections import defaultdict
from dataclasses import replace
from math import isnan

import pytest

import commands
from run_directories import lines, row, sample, write_run
from specahd.core import journal
from specahd.core.plain import convert
from specahd.evaluation.rows import Row, RowRecord
from specahd.reporting.methods import Reference, comparison_tables, is_comparison
from specahd.runs.reading import Spending, read_runs, read_spending

UNKNOWN = defaultdict(dict)
UNPAID = defaultdict(Spending)


def write(folder, method, seed, costs, **options):
    write_run(
        folder / f"{method}-{seed}", method=method, seed=seed,
        validation=[row("a", 200, costs[0]), row("b", 800, costs[1], rollbacks=1)], **options,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for seed in (0, 1):
        write(tmp_path, "specahd", seed, (80.0 - seed, 60.0))
        write(tmp_path, "eoh", seed, (90.0, 70.0))
    # Partial: half of its programs.
    write(tmp_path, "eoh", 2, (10.0, 10.0), samples=[sample("lower", 1, 0.1)] * 2)
    return tmp_path


def table(document, problem):
    section = document.markdown().split(f"## {problem}\n")[1].split("\n## ")[0]
    last = next(part for part in reversed(section.strip().split("\n\n")) if part.startswith("|"))
    found = last.splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found]


def test_a_row_holds_costs_by_size_improvement_seconds_and_how_many_runs_count(folder):
    runs = read_runs(folder)
    seconds = {run.name: {"a": 0.5 + run.seed, "gone": 9.0} for run in runs}
    took = {"eoh-0": {"a": 3.0}}
    columns, _, eoh, ours, baseline = table(
        comparison_tables(runs, seconds, {}, UNPAID, took), "cvrp"
    )
    assert columns == [
        "method", "200 (1)", "800 (1)", "improvement", "below B", "s", "complete", "programs",
        "failed", "T",
    ]  # fmt: skip
    assert eoh == ["eoh", "90.0", "70.0", "+20.00% ± 0.00", "4/4", "1.000", "2/3", "4", "2/6", "0"]
    assert ours[:5] == ["specahd", "**79.5**", "**60.0**", "+30.25% ± 0.35", "4/4"]
    assert baseline == [
        "B: nearest", "100.0", "100.0", "–", "–", "3.000", "baseline", "–", "–", "0",
    ]  # fmt: skip


def test_partial_runs_are_named_and_enter_into_no_mean(folder):
    runs = read_runs(folder)
    told = comparison_tables(runs, UNKNOWN, {}, UNPAID)
    assert "Partial, counted in no mean: eoh-2." in told.markdown()
    assert table(told, "cvrp")[2][5] == "–"


def test_controls_are_rows_by_their_words(tmp_path):
    write(tmp_path, "specahd", 0, (70.0, 60.0))
    write(tmp_path, "eoh", 0, (90.0, 70.0))
    write(tmp_path, "specahd", 1, (80.0, 60.0), programs=0, samples=())
    told = comparison_tables(read_runs(tmp_path), UNKNOWN, {}, UNPAID)
    names = [line[0] for line in table(told, "cvrp")[2:]]
    assert names == ["eoh", "specahd", "specahd, no program", "B: nearest"]


def test_runs_without_programs_are_the_control_of_each_model_and_of_no_other_setting(tmp_path):
    def write_one(name, model, passes=2, programs=4, cost=80.0):
        write_run(
            tmp_path / name, programs=programs, samples=None if programs else (),
            choices={"llm": model}, options={"search": {"passes": passes}},
            validation=[row("a", 200, cost)],
        )  # fmt: skip

    write_one("none", "offline", programs=0, cost=90.0)
    write_one("recorded", "recorded")
    write_one("local", "local", cost=70.0)
    write_one("other", "recorded", passes=3)
    told = comparison_tables(read_runs(tmp_path), UNKNOWN, {}, UNPAID)
    [_, _, *lines] = table(told, "What a search adds")
    gains = {(line[4], line[6]) for line in lines}
    assert gains == {("+10.00%", "+30.00%"), ("+10.00%", "+20.00%")}
    assert len(lines) == 2


def test_groups_that_limits_decide_are_shown_and_not_compared(tmp_path):
    for method, costs, limited in (("specahd", (90.0, 10.0), 0), ("eoh", (80.0, 99.0), 1)):
        rows = [row("a", 200, costs[0]), row("b", 800, costs[1], limited=limited)]
        write_run(tmp_path / method, method=method, validation=rows)
    told = comparison_tables(read_runs(tmp_path), UNKNOWN, {}, UNPAID)
    columns, _, eoh, ours, baseline = table(told, "cvrp")
    assert columns[1:3] == ["200 (1)", "800 (1) \\*"]
    # Half of the calls of one method: no mean leads there, and none enters an improvement.
    assert eoh[:4] == ["eoh", "**80.0**", "99.0", "+20.00%"]
    assert ours[:4] == ["specahd", "90.0", "10.0", "+10.00%"]
    assert baseline[1] == "100.0"
    text = told.markdown()
    assert "eoh has the lowest costs" in text
    assert "(1 instance, 1 seed of 4 programs.)" in text
    assert "ended in a limit of time or memory (800: eoh 50%)." in text
    few = [row("a", 200, 90.0, limited=0), row("b", 800, 99.0, limited=0)]
    for name in ("specahd", "eoh"):
        few[1]["steps"] = [{"outcome": "timeout"}] + [{"outcome": "ok"}] * 9
        write_run(tmp_path / "few" / name, method=name, validation=few)
    # A tenth is not more than a tenth.
    text = comparison_tables(read_runs(tmp_path / "few"), UNKNOWN, {}, UNPAID).markdown()
    assert "not compared:" not in text


def test_a_failed_upper_program_is_one_call_that_a_limit_may_have_ended():
    record = row("a", 200, 0.0, status="T") | {"steps": [], "outcome": "timeout"}
    failed = Row.of(convert(record, RowRecord))
    assert (failed.calls, failed.limited) == (1, 1)
    crashed = Row.of(convert(record | {"outcome": "crashed"}, RowRecord))
    assert (crashed.calls, crashed.limited) == (1, 0)


def test_a_gain_is_told_with_what_it_is_without_programs_and_with_where_it_starts(tmp_path):
    for seed in (0, 1):
        write(tmp_path, "specahd", seed, (80.0 - seed, 60.0))
        write(tmp_path, "eoh", seed, (70.0, 70.0))
        rows = [row("a", 200, 85.0), row("b", 800, 75.0 - seed)]
        write_run(tmp_path / f"none-{seed}", seed=seed, programs=0, samples=(), validation=rows)
    told = comparison_tables(read_runs(tmp_path), UNKNOWN, {}, UNPAID)
    [columns, _, line] = table(told, "What a search adds")
    assert line == [
        "cvrp", "specahd", "2", "2", "+20.25% ± 0.35", "–", "+30.25% ± 0.35",
        # 100/70 and 100/59 or 100/60, whose cheapest are 70 and 60.
        "eoh +30.00% ± 0.00", "nearest", "54.76% above the cheapest here",
    ]  # fmt: skip
    assert columns[4:7] == ["no program", "sampled", "searched"]
    for path in tmp_path.glob("*/validation.jsonl"):
        records = [record | {"best_known": 50.0} for record in journal.read_records(path)]
        lines(path, records)
    told = comparison_tables(read_runs(tmp_path), UNKNOWN, {}, UNPAID)
    assert table(told, "What a search adds")[2][-1] == "100.00% above the best known"


def reference(*told):
    return Row.of(convert(row(*told), RowRecord))


def test_references_stand_below_the_methods_of_their_problem(folder):
    runs = read_runs(folder)
    rows = [reference("a", 200, 70.0), reference("b", 800, 50.0)]
    savings, other = Reference("savings", rows, {"a": 0.0125}), Reference("no", rows, {})
    others = {"cvrp": [savings], "tsp": [other]}
    told = comparison_tables(runs, UNKNOWN, others, UNPAID)
    assert table(told, "cvrp")[-2] == [
        "savings", "70.0", "50.0", "+40.00%", "2/2", "0.013", "reference", "–", "0/2", "0",
    ]  # fmt: skip
    assert "## tsp" not in told.markdown()


def test_methods_and_references_are_compared_on_the_same_instances(tmp_path):
    drawn = {("eoh", 0): "ab", ("eoh", 1): "ac", ("specahd", 0): "abc", ("specahd", 2): "abc"}
    for (method, seed), names in drawn.items():
        rows = [row(name, 200, 90.0 if name == "a" else 10.0) for name in names]
        write_run(tmp_path / f"{method}-{seed}", method=method, seed=seed, validation=rows)
    rows = [reference(name, 200, cost) for name, cost in (("b", 60.0), ("d", 1.0))]
    others = {"cvrp": [Reference("savings", rows, {"b": 1.0, "d": 9.0})]}
    runs = read_runs(tmp_path)
    told = comparison_tables(
        runs, {run.name: {"a": 1.0, "b": 5.0, "c": 9.0} for run in runs}, others, UNPAID
    )
    _, _, eoh, ours, savings, _ = table(told, "cvrp")
    assert eoh[:5] == ["eoh", "**50.0**", "+50.00%", "2/2", "3.000"]
    assert ours[:5] == ["specahd", "**50.0**", "+50.00%", "2/2", "3.000"]
    # It lacks an instance of that size.
    assert savings[:5] == ["savings", "–", "+40.00%", "1/1", "1.000"]
    assert "since not all have that seed: eoh-1 (seed 1), specahd-2 (seed 2)." in told.markdown()
    assert "\n\nsavings has rows of 1 of 2 instances.\n" in told.markdown()
    assert "selection" not in told.markdown()


def test_a_size_averages_what_all_methods_solved_and_counts_the_rest(tmp_path):
    for method, status in (("eoh", "T"), ("specahd", "ok")):
        rows = [row("a", 200, 90.0), row("b", 200, 60.0, status=status) | {"best_known": 50.0}]
        write_run(tmp_path / method, method=method, validation=rows)
    runs = read_runs(tmp_path)
    columns, _, eoh, ours, _ = table(comparison_tables(runs, UNKNOWN, {}, UNPAID), "cvrp")
    assert columns[1] == "200 (1, 1 T)"
    assert (eoh[1], ours[1]) == ("**90.0**", "**90.0**")
    assert columns[4] == "gap"
    assert (eoh[3:5], ours[3:5]) == (["1/1", "–"], ["2/2", "+20.00%"])


def test_the_bound_stands_below_all_where_a_run_or_a_reference_tells_it(tmp_path):
    rows = [row("a", 200, 90.0), row("b", 200, 60.0)]
    for method in ("eoh", "specahd"):
        write_run(tmp_path / method, method=method, validation=rows)
    bounded = [reference("a", 200, 70.0), reference("b", 200, 50.0)]
    bounded = [replace(each, lower_bound=40.0 + 20 * (each.instance == "b")) for each in bounded]
    runs = read_runs(tmp_path)
    told = comparison_tables(runs, UNKNOWN, {"cvrp": [Reference("savings", bounded, {})]}, UNPAID)
    *_, last = table(told, "cvrp")
    assert last == ["2 Σ q d / Q", "50.0", "+50.00%", "–", "–", "bound", "–", "–", "0"]
    assert "a lower bound on the cost" in told.markdown()
    told = comparison_tables(
        runs, UNKNOWN, {"cvrp": [Reference("savings", bounded[:1], {})]}, UNPAID
    )
    assert "Σ" not in told.markdown()


def test_each_problem_has_a_table_and_one_method_is_no_comparison(folder):
    write_run(folder / "other", problem="tsp", method="eoh")
    runs = read_runs(folder)
    told = comparison_tables(runs, UNKNOWN, {}, UNPAID)
    assert [line[0] for line in table(told, "tsp")[2:]] == ["eoh", "B: nearest"]
    assert is_comparison(runs)
    assert not is_comparison([run for run in runs if run.kind.method == "eoh"])


def test_settings_of_a_method_are_compared_as_methods_are(tmp_path):
    for seed, cost in ((0, 90.0), (1, 91.0)):
        for memory, more in (("structural", 0.0), ("none", 5.0)):
            rows = [row("a", 200, cost + more), row("b", 200, cost + more)]
            folder, choices = tmp_path / f"{memory}-{seed}", {"memory": memory}
            write_run(folder, seed=seed, choices=choices, validation=rows)
    runs = read_runs(tmp_path)
    assert is_comparison(runs)
    text = comparison_tables(runs, UNKNOWN, {}, UNPAID).markdown()
    assert "memory=structural finds cheaper solutions than every other setting; memory" in text
    assert "| setting | difference |" in text


def test_tokens_and_money_stand_where_any_were_used(folder):
    runs = read_runs(folder)
    path = folder / "eoh-0" / "wal.jsonl"
    reply = {
        "sample": "a",
        "hash": "0",
        "reply": "",
        "prompt_tokens": 900,
        "completion_tokens": 100,
    }
    lines(path, [{**reply, "cost": 0.25}, {**reply, "cost": 0.5}])
    spending = {run.name: read_spending(folder / run.name) for run in runs}
    assert (spending["eoh-0"].tokens, spending["eoh-0"].cost) == (2000, 0.75)
    spending["eoh-1"] = Spending(1000, 0.25)
    columns, _, eoh, ours, _ = table(comparison_tables(runs, UNKNOWN, {}, spending), "cvrp")
    assert columns[8:10] == ["tokens", "money"]
    assert (eoh[8:10], ours[8:10]) == (["1,500", "0.50"], ["–", "–"])


def test_what_a_training_took_is_counted_and_told(folder):
    for run in read_runs(folder):
        measured = [
            {"round": 1, "tasks": []},
            {"round": 1, "outcome": "ok", "carried": "a", "cost_before": [1, 2, 3]},
            {"round": 1, "outcome": "ok", "sample": "b", "utilities": [0.5, 0.25]},
        ]
        lines(folder / run.name / "responses.jsonl", measured)
        took = json.dumps({"cpu_seconds": 40.0 + run.seed})
        (folder / run.name / "training-timings.json").write_text(took)
    spending = {run.name: read_spending(folder / run.name) for run in read_runs(folder)}
    assert spending["eoh-1"].evaluations == 5
    assert spending["eoh-1"].cpu_seconds == 41.0
    columns, _, eoh, *_ = table(comparison_tables(read_runs(folder), UNKNOWN, {}, spending), "cvrp")
    assert columns[7:10] == ["programs", "evaluations", "CPU s"]
    assert eoh[7:10] == ["4", "5", "40"]
    (folder / "eoh-1" / "training-timings.json").unlink()
    assert isnan(read_spending(folder / "eoh-1").cpu_seconds)


def test_the_report_of_several_methods_has_their_table(folder):
    for path in folder.glob("specahd-*"):
        took = {"instance": "a", "rebuild": 0.05, "merge": 0.2}
        lines(path / "validation-timings.jsonl", [took])
    lines(folder / "refs" / "cvrp" / "savings" / "rows.jsonl", [row("a", 200, 70.0)])
    took = {"instance": "a", "solve": 2.0}
    lines(folder / "refs" / "cvrp" / "savings" / "rows-timings.jsonl", [took])
    words = (f"runs={folder}", "tracking=none", "hydra.run.dir=report")
    commands.call("report", *words, f"references={folder / 'refs'}", cwd=folder)
    told = (folder / "report" / "methods.md").read_text()
    assert "| specahd | **79.5** | **60.0** | +30.25% ± 0.35 | 4/4 | 0.250 | 2/2 |" in told
    # The rows alone give the same, twice.
    for place, source in (("again", "report"), ("thrice", "again")):
        rows = folder / source / "rows.parquet"
        words_of_rows = (f"rows={rows}", "tracking=none", f"hydra.run.dir={place}")
        commands.call("report", *words_of_rows, cwd=folder)
        assert (folder / place / "methods.md").read_text() == told
        assert (folder / place / "rows.parquet").read_bytes() == rows.read_bytes()
    assert "| savings | 70.0 | – | +30.00% | 1/1 | 2.000 | reference |" in told
    # The answer stands first, also on the page; the tables are files too.
    answer = (
        "specahd finds cheaper solutions than every other method; eoh, the next, costs 14.92% more"
    )
    assert told.split("\n\n")[2].startswith(answer)
    page = (folder / "report" / "report.html").read_text()
    assert page.index(answer) < page.index("Checkpoints")
    [header, *rows] = (folder / "report" / "tables" / "cvrp-methods.csv").read_text().splitlines()
    assert header.startswith("method,200 (1),800 (1),improvement (%),improvement deviation,")
    assert rows[1].startswith("specahd,79.5,60.0,+30.25,0.35,4,4,")
    latex = (folder / "report" / "report.tex").read_text()
    assert r"specahd & \textbf{79.5} & \textbf{60.0} & +30.25\% $\pm$ 0.35 &" in latex
    done = commands.call("report", *words, "references=gone", cwd=folder, check=False)
    assert done.returncode == 2
    assert done.stderr == "gone holds no <problem>/<solver>/rows.jsonl.\n"


def test_a_report_of_one_method_leaves_no_table_of_an_earlier_one(tmp_path):
    write_run(tmp_path / "runs" / "a")
    stale = tmp_path / "report" / "methods.md"
    stale.parent.mkdir()
    stale.touch()
    commands.call("report", "tracking=none", "hydra.run.dir=report", cwd=tmp_path)
    assert not stale.exists()
