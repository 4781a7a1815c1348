"""The files of an archive of responses: two Parquet tables, checked when they are read."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from specahd.checkpoint.manifest import RESPONSES_FILE, TASKS_FILE
from specahd.core.errors import CheckpointError
from specahd.core.plain import NAME
from specahd.core.program import Outcome
from specahd.repair.responses import RepairTask, Response
from specahd.repair.router import ResponseArchive
from specahd.routing.base import Region

_MOST_VALUES, _MOST_BYTES = 10_000_000, 256 << 20
"""Largest number of values and of uncompressed bytes of a file."""
_ALWAYS, _VALUES_PER_BYTE = 200_000, 8
"""A file of any size may declare so many values, and each of its bytes so many more.

Equal values need no bytes, so that a small file can declare any number; a run's have at most two.
"""
_ENCODINGS = {"PLAIN", "RLE", "RLE_DICTIONARY", "PLAIN_DICTIONARY"}
"""The encodings that :func:`write_archive` uses; some others expand without a bound."""
_ROWS = 10_000
"""Rows that are converted to objects at a time."""
_LONGEST_KEY = 1000
_LARGEST = 1e15
"""Largest accepted magnitude of a value; above it, arithmetic could overflow."""
_TEXT = pa.dictionary(pa.int32(), pa.string())
_RESPONSES = {
    "task": _TEXT,
    "program": _TEXT,
    "outcome": _TEXT,
    "cost_before": pa.float64(),
    "cost_merged": pa.float64(),
    "fallbacks": pa.int64(),
}


def write_archive(archive: ResponseArchive, directory: Path) -> None:
    """Write two Parquet files; equal archives give equal bytes."""
    tasks = {
        "task": pa.array(archive.tasks, pa.string()),
        "nodes": pa.array([t.region.nodes for t in archive.tasks.values()], pa.list_(pa.int64())),
    }
    raw = archive.descriptors()
    for column, name in enumerate(archive.descriptor_names):
        tasks[name] = pa.array(raw[:, column], pa.float64())
    pq.write_table(pa.table(tasks), directory / TASKS_FILE)
    pairs, rows = list(archive.responses), list(archive.responses.values())
    responses = {
        "task": pa.array([task for task, _ in pairs], pa.string()),
        "program": pa.array([program for _, program in pairs], pa.string()),
        "outcome": pa.array([str(row.outcome) for row in rows], pa.string()),
        "cost_before": pa.array([row.cost_before for row in rows], pa.float64()),
        "cost_merged": pa.array([row.cost_merged for row in rows], pa.float64()),
        "fallbacks": pa.array([row.fallbacks for row in rows], pa.int64()),
    }
    pq.write_table(pa.table(responses), directory / RESPONSES_FILE)


def read_archive(directory: Path) -> ResponseArchive:
    """Read an archive from its files; the tasks' cases are not kept (index -1).

    Raises
    ------
    CheckpointError
        A file is not what :func:`write_archive` writes.
    """
    tasks = _read_table(directory / TASKS_FILE, {"task": _TEXT, "nodes": pa.list_(pa.int64())})
    names = [name for name in tasks.column_names if name not in ("task", "nodes")]
    archive = ResponseArchive(names)
    for row in _records(tasks):
        archive.tasks[row["task"]] = RepairTask(
            row["task"], -1, Region(tuple(row["nodes"])), tuple(row[name] for name in names)
        )
    responses = _read_table(directory / RESPONSES_FILE, _RESPONSES)
    for row in _records(responses):
        archive.responses[row["task"], row["program"]] = Response(
            Outcome(row["outcome"]), row["cost_before"], row["cost_merged"], row["fallbacks"]
        )
    if (len(archive.tasks), len(archive.responses)) != (len(tasks), len(responses)):
        raise CheckpointError(f"{directory} has an archive with a row twice.")
    if not archive.tasks.keys() >= {task for task, _ in archive.responses}:
        raise CheckpointError(f"{directory} has an archive with responses to no task.")
    return archive


def _records(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=_ROWS):
        yield from batch.to_pylist()


def _read_table(path: Path, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Read a Parquet file of these columns, followed only by columns of 64-bit floats."""
    texts = [name for name, kind in columns.items() if kind == _TEXT]
    try:
        # Texts are read as indices of their distinct values: a small file can repeat a long
        # text a million times.
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            reason = _shape_error(file, columns, path.stat().st_size)
            table = file.schema_arrow.empty_table() if reason else file.read()
        # The indices and the encodings take memory too.
        table.validate(full=True)
        reason = reason or next(
            filter(None, map(_content_error, table.column_names, table.columns)), ""
        )
    except (pa.ArrowException, OSError, ValueError, KeyError):
        reason = "it is no Parquet file"
    if reason:
        raise CheckpointError(f"{path} is not an archive's: {reason}.")
    return table


def _shape_error(file: pq.ParquetFile, columns: Mapping[str, pa.DataType], size: int) -> str:
    """Return an error in what a file of ``size`` bytes declares, empty if there is none."""
    schema, metadata = file.schema_arrow, file.metadata
    expected = list(columns) + schema.names[len(columns) :]
    more = columns is _RESPONSES and len(expected) > len(columns)
    if schema.names != expected or len(set(expected)) < len(expected) or more:
        return f"expected the columns {', '.join(columns)}"
    for name, kind in zip(schema.names, schema.types, strict=True):
        if not kind.equals(columns.get(name, pa.float64())):
            return "a column has another type"
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    chunks = [group.column(index) for group in groups for index in range(metadata.num_columns)]
    # Snappy expands a byte to at most about twenty; other codecs have no such bound.
    if any(chunk.compression != "SNAPPY" for chunk in chunks):
        return "it is compressed otherwise"
    if not all(_ENCODINGS.issuperset(chunk.encodings) for chunk in chunks):
        return "it is encoded otherwise"
    values = sum(chunk.num_values for chunk in chunks)
    uncompressed = sum(chunk.total_uncompressed_size for chunk in chunks)
    most = min(_MOST_VALUES, _ALWAYS + _VALUES_PER_BYTE * size)
    if values > most or uncompressed > _MOST_BYTES:
        return (
            f"it claims {values:,} values of {uncompressed:,} bytes, expected at most {most:,} "
            f"of {_MOST_BYTES:,}"
        )
    return ""


def _content_error(name: str, column: pa.ChunkedArray) -> str:
    """Return an error in the values of a column, empty if there is none."""
    if column.null_count and name != "cost_merged":
        return "a value is missing"
    if column.type == _TEXT:
        for chunk in column.chunks:
            distinct = chunk.dictionary.to_pylist()
            if any(text is None or len(text) > _LONGEST_KEY for text in distinct):
                return "a name is too long"
            if name == "outcome" and not set(distinct) <= set(Outcome):
                return "an outcome is none"
            if name == "program" and not all(map(NAME.fullmatch, distinct)):
                return "a program's name is none"
        return ""
    if pa.types.is_list(column.type):
        nodes = pc.list_flatten(column)
        lengths = pc.min(pc.list_value_length(column)).as_py()
        return "a region is none" if nodes.null_count or _below_0(nodes) or lengths == 0 else ""
    if name in ("cost_before", "cost_merged", "fallbacks") and _below_0(column):
        return "a number is below 0"
    if column.type == pa.float64():
        values = column.drop_null().to_numpy()
        # The comparison is written so that nan fails it too.
        if not np.all(np.abs(values) <= _LARGEST):
            return "a number is too large"
    return ""


def _below_0(values: pa.ChunkedArray) -> bool:
    least = pc.min(values).as_py()
    return least is not None and least < 0
