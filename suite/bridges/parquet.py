"""Parquet: the table of `suite.load(...)`, a row for each process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from suite.bridges.frames import load, needed
from suite.errors import StorageError

_COUNTS = ("device_count", "version", "batch", "process")


def write(arguments: Sequence[str], path: Path) -> tuple[int, tuple[str, ...]]:
    """Writes a Parquet file.

    Args:
        arguments: result files, folders and globs.
        path: where to; what is there is replaced.

    Returns:
        Its rows, and the files that were skipped, with the reason.

    Raises:
        ConfigError: pyarrow is not installed.
        ResultFileError: a named file cannot be read, or nothing in a folder or glob can be.
        StorageError: it cannot be written.
    """
    arrow = needed("pyarrow", "parquet", "export --to parquet")
    parquet = needed("pyarrow.parquet", "parquet", "export --to parquet")
    loaded = load(*arguments)
    columns = loaded.columns("process")
    columns["started_at"] = [datetime.fromisoformat(text) for text in columns["started_at"]]
    # Named, so that a column has its type also where every value in it is missing.
    schema = arrow.schema([(name, _type(arrow, name)) for name in columns])
    table = arrow.table(columns, schema=schema)
    try:
        parquet.write_table(table, path)
    except OSError as error:
        raise StorageError(
            f"Cannot write {path}: {error.strerror or error}. Name another with -o FILE."
        ) from error
    return table.num_rows, loaded.skipped


def _type(arrow: Any, name: str) -> Any:
    if name == "started_at":
        return arrow.timestamp("s", tz="UTC")
    if name in _COUNTS:
        return arrow.int64()
    return arrow.float64() if name.endswith("_ns") or name == "peak_bytes" else arrow.string()
