"""What is shown while a run goes, from hand-made outcomes."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from suite.record.schema import JournalHeader
from suite.report.progress import LiveProgress, PlainProgress, make_progress
from suite.run.schedule import Plan
from tests.builders import STEPS_MS, case, failure, header, outcome, process, result_file

A, B = case(batch=8), case(batch=16)
EXPECTED = Plan(expected_s={A.key: 10.0, B.key: 20.0})


def terminal(height: int = 25) -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(
        file=screen, force_terminal=True, width=100, height=height, color_system=None, legacy_windows=False
    ), screen


def plain() -> tuple[PlainProgress, io.StringIO]:
    screen = io.StringIO()
    return PlainProgress(Console(file=screen, width=60)), screen


def go(progress: PlainProgress | LiveProgress, head: JournalHeader, plan: Plan = EXPECTED) -> None:
    """One good process of A, then B fails."""
    progress.run_started(head, plan, Path("results/x/run.json"), [])
    progress.round_started(0, 2)
    progress.process_started(A, 0)
    progress.stage_entered("compile")
    progress.process_finished(outcome(A, process(0, duration_s=10.0)))
    progress.process_started(B, 0)
    progress.process_finished(
        outcome(B, failure(0, status="oom", reason="too \x1b[31mlarge", stage="first_call"))
    )


def test_plain_lines_say_each_thing_once_and_stay_whole() -> None:
    progress, screen = plain()
    go(progress, header(A, B, processes_planned=2))
    progress.run_finished(result_file(), "complete")
    assert screen.getvalue().splitlines() == [
        "writing results/x/run.json",
        "round 1 of 2: 2 processes, about 1 min left",
        f"  {A.key}   4.00 ms a step, 1 of 2 processes",
        f"  {B.key}  oom: too \\x1b[31mlarge (first call)",
    ]
    assert progress.ended == "complete"


def test_the_interval_shows_as_soon_as_there_is_one() -> None:
    progress, screen = plain()
    progress.run_started(header(A), EXPECTED, Path("run.json"), [])
    for index, step_ms in enumerate(STEPS_MS):
        progress.process_started(A, index)
        progress.process_finished(outcome(A, process(index, step_ms)))
    lines = screen.getvalue().splitlines()[-3:]
    assert "4.15 ms a step, 5 of 7" in lines[0]
    assert "(4.00-4.30) a step, 6 of 7" in lines[1]
    assert "4.15 ms (4.00-4.30) a step, 7 of 7" in lines[2]


def test_time_left_is_cut_by_the_budget_and_unknown_without_estimates() -> None:
    progress, screen = plain()
    progress.run_started(header(A, B), Plan(budget_s=60.0, expected_s=EXPECTED.expected_s), Path("x"), [])
    progress.round_started(0, 2)
    assert "of the budget left" in screen.getvalue()
    progress, screen = plain()
    progress.run_started(header(A, B), Plan(), Path("x"), [])
    progress.round_started(0, 2)
    assert screen.getvalue().splitlines()[-1] == "round 1 of 7: 2 processes"


def test_a_resumed_run_starts_from_what_is_done() -> None:
    progress, screen = plain()
    progress.run_started(header(A), EXPECTED, Path("x"), [outcome(A, process(0))])
    progress.process_started(A, 1)
    progress.process_finished(outcome(A, process(1)))
    assert "going on after 1 finished process\n" in screen.getvalue()
    assert "2 of 7 processes" in screen.getvalue()


def test_the_live_table_shows_case_stage_figure_and_round() -> None:
    console, screen = terminal()
    progress = LiveProgress(console)
    go(progress, header(A, B, processes_planned=2))
    progress._draw()
    seen = screen.getvalue()
    assert "round 1 of 2 · " in seen
    assert f"{A.key}: start" in seen
    assert "4.00 ms" in seen
    assert "1/2" in seen
    # A failure stays above the table as a line of its own, without control characters.
    assert f"{B.key}  oom: too \\x1b[31mlarge (first call)" in seen
    progress.close()
    progress.close()


def test_the_screen_is_drawn_at_most_twice_a_second_while_a_worker_measures(monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr("suite.report.progress.time.monotonic", lambda: now[0])
    console, _ = terminal()
    progress = LiveProgress(console)
    progress.run_started(header(A), EXPECTED, Path("x"), [])
    progress.process_started(A, 0)
    drawn: list[float] = []
    monkeypatch.setattr(progress._live, "update", lambda *a, **k: drawn.append(now[0]))
    for _ in range(100):
        now[0] += 0.1
        progress.tick()
        progress.stage_entered("blocks")
    progress.close()
    assert 10 <= len(drawn) <= 20


def test_a_small_screen_shows_the_cases_around_the_current_one() -> None:
    cases = [case(batch=n) for n in range(1, 40)]
    console, _ = terminal(height=10)
    progress = LiveProgress(console)
    visible = progress._visible(cases, cases[20])
    assert len(visible) == 6
    assert cases[20] in visible


def test_an_interrupt_takes_the_table_away() -> None:
    console, screen = terminal()
    progress = LiveProgress(console)
    go(progress, header(A, B))
    progress.stopping()
    assert not progress._live.is_started
    assert screen.getvalue().rstrip().endswith("interrupted: writing what there is")


def test_a_terminal_gets_the_table_and_a_pipe_gets_lines() -> None:
    assert isinstance(make_progress(terminal()[0]), LiveProgress)
    assert isinstance(make_progress(Console(file=io.StringIO())), PlainProgress)
