"""What MLflow keeps of a run, in real sqlite stores."""

import json
from pathlib import Path

import pandas as pd
import pytest
from trial_store import bring, observer, stored
from written_run import BEGAN, SOURCE, WrittenRun

from specahd.core.errors import ConfigError
from specahd.runs.journal import Journal
from specahd.tracking.store import NOTE
from specahd.tracking.upload import RunUpload, SyncCursor, UploadFailed

pytestmark = pytest.mark.integration


def test_one_run_holds_parameters_metrics_by_step_files_and_pictures(run, store):
    run.finish()
    bring(run, store)
    client, training, _ = stored(run.directory, store)
    name, data = training.info.run_id, training.data
    assert (training.info.status, training.info.run_name) == (
        "FINISHED",
        f"run in {run.directory.parent.name}",
    )
    # The UI lists them in this order, which is that in which they came.
    assert list(data.metrics)[:2] == [
        *("improvement_percent/selection", "improvement_percent/validation"),
    ]
    assert data.params == {
        "problem": "cvrp",
        "method": "specahd_one_pass",
        "llm": "offline",
        "seed": "3",
        "problem.baseline": "nearest",
        "problem.max_size": "50",
        "problem.repair": "append",
        "search.penalty.weight": "1.0",
        "pools.dir": "pools",
        "pools.seed": "1",
        "budget.name": "smoke",
        "budget.programs": "40",
        "budget.lower_train": "1",
        "budget.upper_train": "2",
        "budget.selection": "2",
        "budget.validation": "None",
    }
    assert data.tags["mlflow.source.git.commit"] == "c0ffee"
    assert data.tags["version.numpy"] == "2.0"
    assert data.tags["sandbox.seccomp"] == "enforced"
    assert data.tags["directory"] == str(run.directory)
    best = client.get_metric_history(name, "lower/best")
    assert [(m.step, m.value, m.timestamp) for m in best] == [
        (i + 1, i / 100, 1000 * (BEGAN + i)) for i in range(0, 20, 2)
    ]
    tokens = client.get_metric_history(name, "spent/completion_tokens")
    assert [metric.value for metric in tokens] == [i * (i + 1) / 2 for i in range(1, 20)]
    expected = {
        "outcome/ok": 16,
        "outcome/parse_error": 4,
        "spent/tickets": 20,
        "spent/cost": 10,
        "programs_per_minute": 60,
        "round/J": 0.25,
        "round/U": 0.375,
        "round/penalty": 0.0625,
        "selection/improvement": 0.5,
        "improvement_percent/selection": 50,
        "validation/improvement": 0.125,
        "improvement_percent/validation": 12.5,
        "validation/cost": 7,
    }
    assert data.metrics | expected == pytest.approx(data.metrics)
    artifacts = {
        path: {Path(a.path).name for a in client.list_artifacts(name, path)}
        for path in ("run", "checkpoint", "figures")
    }
    assert artifacts["checkpoint"] == {"manifest.json"}
    kept = {f"{name}.{end}" for name in ("convergence", "routes") for end in ("png", "svg")}
    assert artifacts["figures"] == kept
    assert artifacts["run"] >= {"config.yaml", "journal.jsonl", "responses.jsonl", "wal.jsonl"}


def test_candidates_are_a_table_with_sources_and_refused_replies(run, store):
    # As the configuration of a run of an earlier version asks.
    bring(run, store, candidates="nested")
    client, training, table = stored(run.directory, store)
    found = client.list_artifacts(training.info.run_id)
    assert [a.path for a in found if not a.is_dir] == ["candidates.json"]
    assert len(table) == 20
    good, bad = table.loc["upper-1-0003"], table.loc["lower-1-0004"]
    told = ["level", "round", "operator", "parents", "idea", "score", "cost", "seconds", "ticket"]
    assert good[told].tolist() == [
        *("upper", 1, "e1", "upper-seed", "Take the first.", 0.03, 0.5, 2.0, 4),
    ]
    assert (good["source"], pd.isna(good["reply"])) == (SOURCE, True)
    assert bad[["outcome", "detail", "reply"]].tolist() == [
        *("parse_error", "There is no code.", "a reply"),
    ]


def test_a_run_that_goes_on_later_goes_on_in_the_same_run(run, store):
    bring(run, store, "interrupted", "Ctrl-C")
    _, before, _ = stored(run.directory, store)
    assert (before.info.status, before.data.tags["status"]) == ("KILLED", "interrupted")
    begin = f"**interrupted**: `Ctrl-C`\n\nGo on with\n\n    {resume(run)}\n"
    assert before.data.tags[NOTE].startswith(begin)
    # What was told stays known to who brings it in again.
    bring(run, store, "interrupted")
    assert stored(run.directory, store)[1].data.tags[NOTE] == before.data.tags[NOTE]
    RunUpload(observer(store).options, run.directory).step()
    _, training, _ = stored(run.directory, store)
    assert (training.info.status, training.data.tags["status"]) == ("RUNNING", "running")
    assert training.data.tags[NOTE].endswith(f"    {resume(run)}\n\n")
    assert SyncCursor.read(run.directory).reason == ""
    run.commit(20)
    run.finish()
    bring(run, store)
    bring(run, store)
    client, training, candidates = stored(run.directory, store)
    assert (training.info.run_id, training.info.status) == (before.info.run_id, "FINISHED")
    assert training.data.tags["status"] == "complete"
    assert training.data.tags[NOTE].startswith("- [lineage](")
    assert len(candidates) == 40
    best = client.get_metric_history(training.info.run_id, "upper/best")
    assert [metric.step for metric in best] == list(range(2, 41, 2))


def test_a_run_that_a_limit_ended_says_which_option_goes_on_with_it(run, store):
    run.finish()
    reason = "budget.max_cost=2 leaves no room for another request: `x`"
    bring(run, store, "partial", reason)
    _, training, _ = stored(run.directory, store)
    assert (training.info.status, training.data.tags["status"]) == ("FINISHED", "partial")
    begin = f"**partial**: `{reason.replace('`', chr(39))}`\n\nGo on with\n\n"
    assert training.data.tags[NOTE].startswith(f"{begin}    {resume(run)} budget.max_cost=MORE\n")


def resume(run):
    return f"python -m specahd.train resume={run.directory}"


@pytest.mark.parametrize("lost", ["records", "run"])
def test_what_was_written_before_its_mark_is_not_written_twice(run, store, lost):
    bring(run, store)
    mark = SyncCursor.read(run.directory)
    mark.records = 7
    if lost == "run":
        mark.run_id = ""
    mark.write(run.directory)
    run.commit(1)
    bring(run, store)
    client, training, candidates = stored(run.directory, store)
    assert sorted(candidates.index) == sorted(
        f"{('lower', 'upper')[i % 2]}-1-{i:04d}" for i in range(21)
    )
    tickets = client.get_metric_history(training.info.run_id, "spent/tickets")
    assert [metric.step for metric in tickets] == list(range(1, 22))


def test_a_run_whose_run_was_deleted_gets_another(run, store):
    bring(run, store)
    client, before, _ = stored(run.directory, store)
    client.delete_run(before.info.run_id)
    bring(run, store)
    _, training, _ = stored(run.directory, store)
    assert training.info.run_id != before.info.run_id
    assert training.data.metrics["spent/tickets"] == 20


def test_a_run_belongs_to_the_sweep_whose_folder_holds_it(run, store):
    sweep = run.directory.parent / "sweep.json"
    sweep.write_text(json.dumps({"run_id": "a" * 32}))
    bring(run, store)
    _, training, _ = stored(run.directory, store)
    assert training.data.tags["mlflow.parentRunId"] == "a" * 32
    assert training.data.tags["sweep"] == sweep.parent.name


def test_pools_are_data_sets_with_the_hash_that_dvc_has_of_them(tmp_path, store, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "pools" / "cvrp"
    folder.mkdir(parents=True)
    pools = {pool: {"a.vrp": "1", "b.vrp": "2"} for pool in ("lower_train", "validation")}
    (folder / "manifest.json").write_text(json.dumps({"pools": pools}))
    out = {"outs": [{"path": "pools/cvrp/validation", "md5": "ab12.dir"}]}
    (tmp_path / "dvc.lock").write_text(json.dumps({"stages": {"prepare": out}}))
    run = WrittenRun(tmp_path / "run")
    bring(run, store)
    _, training, _ = stored(run.directory, store)
    sets = {i.dataset.name: i.dataset for i in training.inputs.dataset_inputs}
    assert sets.keys() == {"cvrp/lower_train", "cvrp/validation"}
    assert sets["cvrp/validation"].digest == "ab12.dir"
    assert json.loads(sets["cvrp/lower_train"].profile) == {"instances": 2, "used": 1}
    # A budget of null is all that there is.
    assert json.loads(sets["cvrp/validation"].profile) == {"instances": 2, "used": 2}


@pytest.mark.usefixtures("forked_uploader")
def test_requests_to_the_model_are_traces_if_asked_for(run, store):
    run.text()
    told = observer(store, traces=True)
    told.on_start(20, run.directory)
    with Journal(run.directory) as written:
        for index, level in enumerate(("lower", "upper", "lower")):
            written.keep_prompt(f"{level}-1-{index:04d}", f"Write: {index}.", len("Write:"))
    told.on_finish("complete")
    client, training, _ = stored(run.directory, store)
    traces = traces_of(client, training)
    assert len(traces) == 21
    trace = traces["upper-1-0001"]
    [span] = trace.data.spans
    assert span.inputs["messages"][0]["content"] == "Write: 1."
    assert span.outputs["choices"][0]["message"]["content"] == "a reply"
    assert span.attributes["mlflow.llm.provider"] == "offline"
    assert trace.info.token_usage["total_tokens"] == 11
    assert trace.info.cost["total_cost"] == 0.5
    assert trace.info.execution_duration == 500
    assert trace.info.trace_metadata["mlflow.trace.session"] == "run round 1 upper"
    judged = {each.name: each.value for each in trace.info.assessments}
    assert judged == {"outcome": "ok", "score": 0.01}
    [refused] = traces["lower-1-0004"].info.assessments
    assert (refused.value, refused.rationale) == ("parse_error", "There is no code.")
    assert traces["lower-1-0099"].data.spans[0].outputs["choices"][0]["message"]["content"] == "So."
    # What requests of a level share is one version, and its traces know it.
    for level, names in (("lower", ["lower-1-0000", "lower-1-0002"]), ("upper", ["upper-1-0001"])):
        prompt = f"specahd-cvrp-append-{level}"
        [version] = client.search_prompt_versions(prompt)
        assert version.template == "Write:\n\n{{request}}"
        for name in names:
            linked = json.loads(traces[name].info.tags["mlflow.linkedPrompts"])
            assert linked == [{"name": prompt, "version": "1"}]


@pytest.mark.usefixtures("forked_uploader")
@pytest.mark.parametrize(("llm", "count"), [("offline", 0), ("deepseek", 2)])
def test_traces_are_kept_where_a_model_is_asked(tmp_path, store, llm, count):
    choices = {"problem": "cvrp", "method": "specahd", "llm": llm}
    run = WrittenRun(tmp_path / "run", choices=choices)
    run.commit(2)
    told = observer(store)
    told.on_start(2, run.directory)
    told.on_finish("complete")
    client, training, _ = stored(run.directory, store)
    assert len(traces_of(client, training)) == count


def traces_of(client, training):
    found = client.search_traces(
        locations=[training.info.experiment_id],
        filter_string=f"tags.training = '{training.info.run_id}'",
    )
    return {trace.info.tags["candidate"]: trace for trace in found}


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("sqlite:///{}/file/mlflow.db", "FileExistsError"),
        ("sqlite:///{}/torn.db", "file is not a database"),
        ("elsewhere://{}", "elsewhere"),
        ("http://name:canary@127.0.0.1:1/{}", "Connection refused"),
    ],
)
def test_a_store_that_cannot_be_opened_says_why_in_one_line(run, tmp_path, place, reason):
    (tmp_path / "file").write_text("a file where the folder should be")
    (tmp_path / "torn.db").write_text("no database" * 1000)
    with pytest.raises(UploadFailed) as raised:
        bring(run, tmp_path, uri=place.format(tmp_path))
    assert reason in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    written = [str(raised.value), *(path.read_text() for path in run.directory.iterdir())]
    assert not [text for text in written if "canary" in text]


@pytest.mark.parametrize(("name", "value"), [("traces", "yes"), ("patience", 0)])
def test_options_out_of_range_are_refused_by_name(tmp_path, name, value):
    with pytest.raises(ConfigError, match=rf"^Expected tracking\.{name} "):
        observer(tmp_path, **{name: value})
