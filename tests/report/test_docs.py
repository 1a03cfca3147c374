"""The documents name everything that a file or a table can say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from suite.record.schema import Status, Summary
from suite.report.show import METHODS

ROOT = Path(__file__).resolve().parents[2]
FILE = (ROOT / "docs/result-file.md").read_text()
READING = (ROOT / "docs/reading-a-result.md").read_text()


def test_every_status_is_explained() -> None:
    for status in get_args(Status):
        assert f"\n| `{status}` |" in FILE


def test_every_figure_of_the_summary_is_defined() -> None:
    for field in set(Summary.__struct_fields__) - {"processes"}:
        assert f"`{field.replace('step_time_ms_high', '_high')}`" in FILE, field


def test_every_memory_method_is_explained() -> None:
    for method, (short, _) in METHODS.items():
        assert f"\n| `{short}` | `{method}` |" in READING


def test_every_warning_says_what_to_do() -> None:
    sources = [ROOT / "suite/analysis/warnings.py", *ROOT.glob("suite/measure*/process.py")]
    codes = {code for source in sources for code in re.findall(r'\bcode="(\w+)"', source.read_text())}
    assert len(codes) >= 10
    explained = set(re.findall(r"^\| `(\w+)` \| (?=\w)", READING, flags=re.MULTILINE))
    assert codes <= explained
