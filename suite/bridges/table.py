"""Result files as one table: a row for each case of each file, whatever became of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from suite.record.schema import Result, ResultFile


def document(files: Sequence[ResultFile], results: Sequence[Result]) -> str:
    """CSV with a line of names; units stand in them, and nothing where a figure is not known."""
    rows = [_row(file, result) for file in files for result in file.results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


def _row(file: ResultFile, result: Result) -> dict[str, Any]:
    machine, software, case = file.environment.machine, file.environment.software, result.case
    fields = {name: getattr(case, name) for name in case.__struct_fields__ if name != "params"}
    summary: dict[str, Any] = msgspec.to_builtins(result.summary)
    return {
        "run": file.run.id,
        "config": file.run.config,
        "started_at": file.run.started_at,
        "machine": machine.machine_id,
        "platform": machine.platform,
        "device": machine.device_kind,
        "device_count": machine.device_count,
        "cpu": machine.cpu_model,
        "jax": software.jax,
        "jaxlib": software.jaxlib,
        "flax": software.flax,
        "key": result.key,
        **fields,
        "params": " ".join(f"{name}={value}" for name, value in sorted(case.params.items())),
        "status": result.status,
        "reason": result.reason,
        **summary,
        "failures": len(result.failures),
        "flops": result.work.flops if result.work else None,
        "items": result.work.items if result.work else None,
        "item": result.work.item if result.work else None,
        "warnings": " ".join(note.code for note in result.warnings),
    }
