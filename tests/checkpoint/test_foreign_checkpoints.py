"""Checkpoints of a stranger: one sentence or a correct load, and no attack.

Every case is an honest checkpoint with something done to it, and with sums that fit again, so
that they hide nothing.
"""

import json
import random
from dataclasses import replace
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foreign import TEXTS, attacked, harmless, mutated, rewrite, seal, stand
from frozen import freeze_seeds
from specahd.api.problems import checkpoint_problem
from specahd.checkpoint.frozen import freeze, thaw
from specahd.core.errors import CheckpointError
from specahd.engine.builtin_programs import SHIPPED
from specahd.model import SpecAHDModel


@pytest.fixture
def place(tmp_path, monkeypatch):
    return stand(tmp_path, monkeypatch)


def test_no_mutated_manifest_does_anything(place, capfd):
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    checkpoint_problem(thaw(checkpoint))
    honest = json.loads((checkpoint / "manifest.json").read_text())
    rng = random.Random(13)
    refused = 0
    for number in range(250):
        changed = mutated(honest, rng)
        (checkpoint / "manifest.json").write_text(json.dumps(changed))
        seal(checkpoint)
        with harmless(place, capfd, f"case {number}"):
            refused += 1
            frozen = thaw(checkpoint)
            problem = checkpoint_problem(frozen)
            frozen.system()
            refused -= 1
            # What loads is what it says, made by our own class.
            assert problem.name == changed["problem"]
            assert problem.baseline_name == changed["settings"].get("baseline", "nearest")
    assert 200 < refused < 250


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_manifest_that_is_none_gets_one_sentence(place, text):
    checkpoint = freeze_seeds("tsp", place / "checkpoint")
    (checkpoint / "manifest.json").write_bytes(text)
    seal(checkpoint)
    with pytest.raises(CheckpointError) as refusal:
        thaw(checkpoint)
    assert len(str(refusal.value).splitlines()) == 1


def _column(name, values):
    def change(table):
        return table.set_column(table.schema.get_field_index(name), name, values(table))

    return change


TABLES = {
    "no columns": ("tasks", lambda table: table.select([])),
    "a column less": ("tasks", lambda table: table.drop_columns(["nodes"])),
    "a coordinate less": ("tasks", lambda table: table.select(range(table.num_columns - 1))),
    "another type": ("tasks", _column("task", lambda table: pa.array([1]))),
    "no number": ("tasks", _column("spread", lambda table: pa.array([float("nan")]))),
    "a huge number": ("tasks", _column("spread", lambda table: pa.array([1e300]))),
    "a missing number": ("tasks", _column("spread", lambda table: pa.array([None], pa.float64()))),
    "no region": ("tasks", _column("nodes", lambda table: pa.array([[]], pa.list_(pa.int64())))),
    "a task twice": ("tasks", lambda table: pa.concat_tables([table, table])),
    "a long name": ("tasks", _column("task", lambda table: pa.array(["x" * 5000]))),
    "a response to nothing": ("responses", _column("task", lambda table: pa.array(["other"]))),
    "a path": ("responses", _column("program", lambda table: pa.array(["../outside"]))),
    "another outcome": ("responses", _column("outcome", lambda table: pa.array(["won"]))),
    "a cost below 0": ("responses", _column("cost_before", lambda table: pa.array([-1.0]))),
    "no cost": ("responses", _column("cost_before", lambda table: pa.array([None], pa.float64()))),
}


@pytest.mark.parametrize("name", TABLES)
def test_an_archive_that_no_run_wrote_gets_one_sentence(place, name):
    file, change = TABLES[name]
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    path = checkpoint / f"{file}.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    seal(checkpoint)
    with pytest.raises(CheckpointError) as refusal:
        thaw(checkpoint)
    assert len(str(refusal.value).splitlines()) == 1
    assert len(str(refusal.value)) < 300


def test_bytes_of_an_archive_that_are_changed_get_one_sentence_or_none(place, capfd):
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    rng = random.Random(5)
    for file in ("tasks", "responses"):
        path = checkpoint / f"{file}.parquet"
        honest = path.read_bytes()
        for number in range(60):
            altered = bytearray(honest)
            altered[rng.randrange(len(honest))] = rng.randrange(256)
            path.write_bytes(altered)
            seal(checkpoint)
            with harmless(place, capfd, f"{file} {number}"):
                thaw(checkpoint)
        path.write_bytes(honest)


def test_an_archive_that_could_unpack_to_anything_is_not_read(place):
    checkpoint = freeze_seeds("vrptw", place / "checkpoint")
    path = checkpoint / "responses.parquet"
    table = pq.read_table(path)
    pq.write_table(table, path, compression="zstd")
    seal(checkpoint)
    with pytest.raises(CheckpointError, match="compressed otherwise"):
        thaw(checkpoint)


def repeated(rows):
    """Return a table of tasks with equal rows, which need no bytes."""
    columns = {
        "task": pa.array(["a"]).dictionary_encode().take(pa.array(np.zeros(rows, np.int64))),
        "nodes": pa.ListArray.from_arrays(np.arange(rows + 1, dtype=np.int32), np.ones(rows, int)),
    }
    return pa.table(columns | dict.fromkeys("abcdefgh", pa.array(np.ones(rows))))


def test_a_small_archive_of_very_many_values_is_refused_before_it_is_decoded(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    path = checkpoint / "tasks.parquet"
    pq.write_table(repeated(400_000), path)
    seal(checkpoint)
    assert path.stat().st_size < 100_000
    began = pa.total_allocated_bytes()
    with pytest.raises(CheckpointError, match=r"it claims 4,000,000 values .*, expected at most "):
        thaw(checkpoint)
    assert pa.total_allocated_bytes() - began < 1 << 20


def test_an_archive_in_an_encoding_that_no_run_writes_is_not_read(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    path = checkpoint / "tasks.parquet"
    table = pq.read_table(path)
    encodings = {"task": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encodings)
    seal(checkpoint)
    with pytest.raises(CheckpointError, match="it is encoded otherwise"):
        thaw(checkpoint)


@pytest.mark.parametrize("name", ["programs/lower-seed.py", "manifest.json", "programs"])
def test_a_link_in_a_checkpoint_is_not_followed(place, name):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    elsewhere = place / "elsewhere"
    path = checkpoint / name
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(CheckpointError, match="which is no file"):
        thaw(checkpoint)
    # The directory itself may be one: the user named it.
    (place / "link").symlink_to(freeze_seeds("cvrp", place / "honest"))
    thaw(place / "link")


@pytest.mark.parametrize("name", ["../outside.py", "extra.py", "programs/../manifest.json", "/"])
def test_what_no_training_writes_is_not_read_though_it_is_listed(place, name):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    (checkpoint / "extra.py").write_text("")
    sums = checkpoint / "SHA256SUMS"
    sums.write_text(sums.read_text() + f"{'0' * 64}  {name}\n")
    with pytest.raises(CheckpointError, match=f"has {name}, which is no file"):
        thaw(checkpoint)


def test_an_id_that_leads_elsewhere_is_neither_read_nor_written(place):
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    rewrite(checkpoint, lambda manifest: manifest["upper"].update(id="../../outside"))
    with pytest.raises(CheckpointError, match=r"upper\.id: expected str"):
        thaw(checkpoint)
    honest = thaw(freeze_seeds("cvrp", place / "again"))
    with pytest.raises(CheckpointError, match="is not the name of a program"):
        freeze(
            replace(honest, uppers=(replace(honest.upper, id="../../../x"),)), place / "out" / "in"
        )
    assert not list(place.rglob("x.py"))


def test_a_checkpoint_of_another_descriptor_or_tier_is_refused(place):
    searched = copytree(SHIPPED / "cvrp", place / "shipped")
    rewrite(searched, lambda manifest: manifest["upper"].update(tier="interpreted"))
    with pytest.raises(CheckpointError, match=r"select_customer_groups is always compiled"):
        checkpoint_problem(thaw(searched))
    checkpoint = freeze_seeds("cvrp", place / "checkpoint")
    # As earlier versions could run it.
    rewrite(checkpoint, lambda manifest: manifest["repertoire"][0].update(tier="compiled"))
    checkpoint_problem(thaw(checkpoint))
    rewrite(checkpoint, lambda manifest: manifest.update(problem="tsp"))
    with pytest.raises(CheckpointError):
        checkpoint_problem(thaw(checkpoint))


def test_the_model_of_mlflow_runs_nothing_that_a_manifest_names(place):
    context = SimpleNamespace(artifacts={"checkpoint": str(attacked(place))}, model_config={})
    with pytest.raises(CheckpointError, match=r"settings\.baseline"):
        SpecAHDModel().load_context(context)
    assert not (place / "PWNED").exists()
