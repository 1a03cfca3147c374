"""docs/comparing.md names everything that a comparison can say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from suite.analysis.compare import State
from suite.analysis.metrics import METRICS
from suite.analysis.noise import LEAST_RUNS
from suite.analysis.verdict import Outcome
from suite.bridges.exporting import FORMATS
from suite.report.comparing.words import GAPS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/comparing.md").read_text()


def test_every_verdict_and_every_gap_is_explained() -> None:
    assert set(GAPS) == set(get_args(State)) - {"compared"}
    for word in (*get_args(Outcome), *GAPS.values()):
        assert f"\n| `{word}` |" in TEXT, word


def test_every_warning_is_explained() -> None:
    code = (ROOT / "suite/analysis/conditions.py").read_text()
    codes = set(re.findall(r'\bcode="(\w+)"', code))
    assert len(codes) >= 6
    for name in codes:
        assert f"\n| `{name}` |" in TEXT, name


def test_every_metric_format_and_exit_code_is_there() -> None:
    for metric in METRICS:
        assert f"\n| `{metric}` |" in TEXT, metric
    for name in FORMATS:
        assert f"\n| `{name}` |" in TEXT, name
    for code in range(5):
        assert f"\n| {code} |" in TEXT, code
    assert f"{LEAST_RUNS} runs" in TEXT
