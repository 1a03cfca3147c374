"""Comparisons against exact texts. To accept a change, look at the difference and run with ACCEPT=1."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from pathlib import Path

import pytest
from rich.console import Console

from suite.analysis.compare import Comparison
from suite.analysis.metrics import METRICS
from suite.analysis.verdict import Ratio
from suite.report.comparing import data, words
from suite.report.comparing.markdown import as_markdown
from suite.report.comparing.text import show_comparison
from suite.report.text import PIPE_WIDTH, make_console
from tests.builders import STEPS_MS, case
from tests.report.comparisons import SLOW, assumed, machines, one_machine
from tests.sides import gpu, run_file

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("ACCEPT"):
        path.write_text(text)
    assert text == path.read_text()


def text_of(comparison: Comparison, width: int = PIPE_WIDTH) -> str:
    file = io.StringIO()
    show_comparison(comparison, Console(file=file, width=width, color_system=None, force_terminal=False))
    return file.getvalue()


@pytest.fixture(autouse=True)
def _short_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # so that the texts name files alike everywhere


def test_one_machine() -> None:
    check("compare-one-machine.txt", text_of(one_machine(Path())))


def test_several_machines() -> None:
    check("compare-machines.txt", text_of(machines(Path())))


def test_markdown() -> None:
    check("compare-one-machine.md", as_markdown(one_machine(Path())) + "\n")
    check("compare-machines.md", as_markdown(machines(Path())) + "\n")


def test_csv() -> None:
    text = data.as_csv(one_machine(Path()))
    check("compare-one-machine.csv", text + "\n")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["verdict"] for row in rows][:3] == ["improved", "regressed", "equivalent"]


@pytest.mark.parametrize("make", [one_machine, machines])
def test_it_fits_a_hundred_columns(make: object) -> None:
    assert callable(make)
    lines = text_of(make(Path())).splitlines()
    assert max(map(len, lines)) <= 100
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_has_its_table(metric: str) -> None:
    text = text_of(machines(Path(), metric))  # type: ignore[arg-type]
    assert max(map(len, text.splitlines())) <= 100
    assert ("Speed-up over A" in text) == (metric != "memory")


def test_json_says_everything_and_is_strict() -> None:
    found = json.loads(data.as_json(one_machine(Path()), strict=False), parse_constant=pytest.fail)
    assert found["exit_code"] == 1
    assert found["verdicts_together"] == 5
    (pairing,) = found["comparisons"]
    assert [d["field"] for d in pairing["differences"]] == ["jax", "jaxlib"]
    slow = next(row for row in pairing["cases"] if row["key"] == SLOW.key)
    assert slow["verdict"] == "regressed"
    assert 0.062 <= slow["margin"] <= slow["limit_between_runs"] == pytest.approx(0.0806)
    assert (slow["margin_source"], slow["margin_runs"]) == ("measured", 9)
    assert slow["ratio"] == pytest.approx(1.22)
    assert len(slow["new"]["processes_ns"]) == 10
    assert math.isclose(slow["new"]["median_ns"], 4.00 * 1.22e6, rel_tol=1e-6)
    assert [note["code"] for note in slow["warnings"]] == ["load_differs"]
    assert {row["state"] for row in pairing["cases"]} == {
        "compared", "failed", "missing", "added", "not_comparable"
    }  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_no_figure_is_lost_at_any_width(width: int) -> None:
    text = text_of(machines(Path()), width)
    for figure in ("4.15 ms", "830 µs ? *", "5.00x (4.82-5.18)", "610 MiB alloc"):
        assert figure in text


def test_many_machines_stand_below_each_other() -> None:
    names = [run_file(Path("m0.json"), [(case(), STEPS_MS)])]
    names += [
        run_file(Path(f"m{n}.json"), [(case(), STEPS_MS)], gpu(machine_id=f"m{n}")) for n in range(1, 30)
    ]
    found = assumed(names)
    lines = text_of(found).splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.split()[:1] == ["AD"] for line in lines), "after Z comes AA"


def test_a_name_from_outside_cannot_steer_anything() -> None:
    evil = case("x:<img src=x>|`@team [a](b)\x1b[31m" + "y" * 500, preset="own", mode="own", layers="own")
    names = [run_file(Path(f"{n}.json"), [(evil, STEPS_MS)]) for n in ("a", "b")]
    found = assumed(names)
    markdown, text = as_markdown(found), text_of(found)
    assert "\x1b" not in markdown + text + data.as_csv(found)
    assert "\\<img src=x\\>\\|\\`\\@team \\[a\\](b)" in markdown
    assert max(map(len, text.splitlines())) <= 100
    raw = io.BytesIO()
    console = make_console(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    show_comparison(found, console)
    assert b"yyyyyyyyyy" in raw.getvalue()


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Ratio(1.081, 1.05, 1.112, 0.95), "+8.1% (+5.0 to +11.2)"),
        (Ratio(0.9, 0.85, 0.95, 0.95), "-10.0% (-15.0 to -5.0)"),
        (Ratio(3.21, 3.1, 3.35, 0.95), "3.21x (3.10-3.35)"),
        (Ratio(0.4, 0.3, 0.6, 0.95), "0.400x (0.300-0.600)"),
        (Ratio(1.2, None, None, 0.95), "+20.0% (no interval)"),
        (Ratio(12.0, None, None, 0.95), "12.0x (no interval)"),
    ],
)
def test_changes(ratio: Ratio, said: str) -> None:
    assert words.change(ratio) == said
