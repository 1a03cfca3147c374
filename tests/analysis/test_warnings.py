"""Each warning: when it is given, when not, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from suite.analysis.warnings import warnings_for
from suite.record.schema import Checks, Conditions, Note, Process
from tests.builders import case, failure, header, memory, outcome, process

CASE = case()


def warn(*processes: Process, state: str = "complete", planned: int = 7) -> dict[str, str]:
    head = header(CASE, state=state, processes_planned=planned)
    notes = warnings_for(head, [outcome(CASE, part) for part in processes])
    assert len({note.code for note in notes}) == len(notes)
    return {note.code: note.message for note in notes}


def seven(**changes: Any) -> list[Process]:
    return [process(index, **changes) for index in range(7)]


def test_seven_quiet_processes_give_none() -> None:
    assert warn(*seven()) == {}


def test_no_process_no_warning() -> None:
    assert warnings_for(header(CASE), [outcome(CASE, failure(0))]) == []


@pytest.mark.parametrize(
    ("measured", "planned", "state", "message"),
    [
        (3, 3, "complete", "only 3 processes were measured; an interval for the step time needs 6 or more"),
        (3, 7, "running", "only 3 processes were measured; an interval for the step time needs 6 or more"),
        (
            3,
            7,
            "interrupted",
            "3 of 7 planned processes were measured; an interval for the step time needs 6",
        ),
        (6, 7, "interrupted", "6 of 7 planned processes were measured; the run ended before the others"),
        (1, 7, "interrupted", "1 of 7 planned processes was measured; an interval for the step time"),
        (6, 7, "running", None),
    ],
)
def test_few_processes(measured: int, planned: int, state: str, message: str | None) -> None:
    found = warn(*seven()[:measured], state=state, planned=planned)
    assert found.get("few_processes", "").startswith(message or "")
    assert ("few_processes" in found) == (message is not None)


def test_not_steady_counts_the_processes_and_says_it_once() -> None:
    unsteady = Conditions(steady=False)
    said = [Note(code="not_steady", message="from the worker")]
    parts = seven()
    parts[1] = process(1, conditions=unsteady, warnings=said)
    parts[4] = process(4, conditions=unsteady, warnings=said)
    found = warn(*parts)
    assert list(found) == ["not_steady"]
    assert found["not_steady"].endswith("(in 2 of 7 processes)")


def test_what_workers_say_is_passed_on_with_its_count() -> None:
    parts = seven()
    parts[2] = process(2, warnings=[Note(code="odd", message="something odd")] * 2)
    assert warn(*parts) == {"odd": "something odd (in 1 of 7 processes)"}
    assert warn(process(0, warnings=[Note(code="odd", message="something odd")]))["odd"] == "something odd"


def test_compiling_while_measuring() -> None:
    parts = seven()
    parts[0] = process(0, conditions=Conditions(compiled_during_measurement=2))
    parts[3] = process(3, conditions=Conditions(compiled_during_measurement=1))
    assert warn(*parts)["compiled_while_measuring"].startswith("3 programs were compiled")


def test_spread_between_processes() -> None:
    assert "spread" not in warn(*seven()[:6], process(6, step_ms=4.39))
    assert "took 25% longer than the fastest" in warn(*seven()[:6], process(6, step_ms=5.0))["spread"]


def test_load_is_measured_against_the_cores() -> None:
    assert "high_load" not in warn(*seven(conditions=Conditions(load_average_before=2.4)))
    found = warn(*seven(conditions=Conditions(load_average_before=2.6)))
    assert found["high_load"].startswith("the load average reached 2.6 on 2 cores")


def test_small_resident_memory() -> None:
    assert "small_rss" in warn(*seven(memory=memory(199_000_000)))
    assert "small_rss" not in warn(*seven(memory=memory(199_000_000, method="static")))


def test_mixed_methods() -> None:
    found = warn(*seven()[:6], process(6, memory=memory(1_000_000_000, method="static")))
    assert "(host_rss, static)" in found["mixed_memory_methods"]


def test_drift_within_the_processes() -> None:
    rising = [40_000_000] * 10 + [44_000_000] * 10
    assert "10% slower from the first half" in warn(*seven(block_ns=rising))["drift"]
    assert "9% faster" in warn(*seven(block_ns=rising[::-1]))["drift"]
    assert "drift" not in warn(*seven()[:4], *[process(n, block_ns=rising) for n in (4, 5, 6)])


def test_unchecked_numbers_say_why() -> None:
    found = warn(*seven(checks=Checks(finite=True, reference_reason="a workload of your own has none")))
    assert found["unchecked"].endswith("with a reference: a workload of your own has none")
    assert "unchecked" not in warn(process(0), *[process(n, checks=Checks()) for n in range(1, 7)])


def test_a_source_that_changed_during_the_run() -> None:
    parts = [outcome(CASE, process(n), source_sha256=sha * 32) for n, sha in enumerate(("ab", "ab", "cd"))]
    codes = [note.code for note in warnings_for(header(CASE), parts)]
    assert "source_changed" in codes
    assert "source_changed" not in [note.code for note in warnings_for(header(CASE), parts[:2])]
