"""Two hand-made runs in, their comparison out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite.analysis.compare import Comparison, Row, compare
from suite.analysis.metrics import Metric
from suite.analysis.sides import gather
from suite.analysis.verdict import measured_margin
from suite.record.schema import Environment
from tests.builders import case
from tests.sides import Cases, run_file

GPT = case("gpt", preset="gpt2-124m", layers="scan", params={"sequence": 64})


def compared(*names: str, metric: Metric = "step_time", threshold: float = 0.05) -> Comparison:
    return compare(
        gather(names),
        metric,
        threshold,
        lambda key, verdicts: measured_margin(threshold, 0.02, 0.02, 8, "cpu"),
    )


def both(
    tmp_path: Path, before: Cases, after: Cases, place: Environment | None = None, **how: Any
) -> Comparison:
    """Two runs, compared; `place` is where the second took place."""
    return compared(run_file(tmp_path / "a.json", before), run_file(tmp_path / "b.json", after, place), **how)


def only_row(comparison: Comparison) -> Row:
    (row,) = comparison.pairings[0].rows
    return row
