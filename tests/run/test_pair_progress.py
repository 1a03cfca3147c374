"""What is shown while pairs are measured, from hand-made outcomes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from suite.analysis.looks import latest_look
from suite.record.schema import JournalHeader
from suite.report.pair_progress import LivePairProgress, PlainPairProgress, make_pair_progress
from suite.run.pairs import PairPlan
from tests.builders import case, failure, header, outcome, process

A, B = case(batch=8), case(batch=16)
PATHS = [Path("results/x/base.json"), Path("results/x/new.json")]


def terminal() -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(
        file=screen, force_terminal=True, width=120, height=25, color_system=None, legacy_windows=False
    ), screen


def plain() -> tuple[PlainPairProgress, io.StringIO]:
    screen = io.StringIO()
    return PlainPairProgress(Console(file=screen, width=60)), screen


def headers() -> list[JournalHeader]:
    return [header(A, B, id=name) for name in ("aa", "bb")]


def go(progress: PlainPairProgress | LivePairProgress, plan: PairPlan) -> None:
    """Two pairs of A, in which new takes a fifth longer; new fails on B."""
    progress.started(headers(), plan, PATHS)
    progress.pair_started(0, 2)
    for side, step_ms in (("new", 4.8), ("base", 4.0)):
        progress.process_started(A, 0, side)  # type: ignore[arg-type]
        progress.stage_entered("blocks")
        progress.process_finished(side, outcome(A, process(0, step_ms, duration_s=5.0)))  # type: ignore[arg-type]
    progress.process_started(B, 0, "base")
    progress.process_finished("base", outcome(B, process(0, 2.0, duration_s=5.0)))
    progress.process_started(B, 0, "new")
    progress.process_finished("new", outcome(B, failure(0, status="oom", reason="too \x1b[31mlarge")))
    progress.pair_started(1, 1)


def test_plain_lines_say_each_pair_once_and_that_it_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.report.pair_progress.time.monotonic", lambda: 0.0)
    progress, screen = plain()
    go(progress, PairPlan(budget_s=600.0))
    progress.looked(A.key, latest_look([0.18, 0.19, 0.2, 0.17] * 2, 0.05, 1))  # type: ignore[arg-type]
    progress.stopping()
    progress.finished("interrupted")
    assert screen.getvalue().splitlines() == [
        "base: writing results/x/base.json",
        "new: writing results/x/new.json",
        "pair 1, next look after 8, 10 min of the budget left: 2 cases",
        f"  {A.key}   base 4.00 ms, new 4.80 ms: +20.0% (no interval) over 1 pair, not a verdict",
        f"  {B.key}  new oom: too \\x1b[31mlarge (blocks)",
        "pair 2, next look after 8, about 1 min 10 s to it, 10 min of the budget left: 1 case",
        f"  {A.key}   look after 8 pairs: regressed, +20.3% (+18.5 to +22.1)",
        "interrupted: writing what there is",
    ]


def test_the_live_table_shows_both_sides_and_labels_what_is_no_verdict() -> None:
    console, screen = terminal()
    progress = make_pair_progress(console)
    assert isinstance(progress, LivePairProgress)
    go(progress, PairPlan())
    shown = screen.getvalue()
    assert "change so far" in shown
    assert "+20.0% (no interval)" in shown
    assert "not a verdict" in shown
    assert "measuring new" in shown
    assert "oom: too \\x1b[31mlarge" in shown
    progress.looked(A.key, latest_look([0.18, 0.19, 0.2, 0.17] * 2, 0.05, 1))  # type: ignore[arg-type]
    assert "regressed" in screen.getvalue()
    progress.finished("complete")
    progress.close()


def test_a_pipe_gets_plain_lines() -> None:
    assert isinstance(make_pair_progress(Console(file=io.StringIO())), PlainPairProgress)


def test_memory_is_shown_as_bytes() -> None:
    progress, screen = plain()
    go(progress, PairPlan(metric="memory"))
    assert "base 488 MiB, new 488 MiB: +0.0% (no interval) over 1 pair" in screen.getvalue()
