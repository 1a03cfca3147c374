"""Folding outcomes into a result file: every status, and figures that can be worked out by head."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.analysis.summary import fold, summarise
from suite.record.schema import Compile, Outcome, Process, Summary
from suite.record.store import unfold
from tests.builders import case, failure, header, memory, outcome, process, result_file, run, work

CASE = case()
END = "2026-01-31T12:10:00Z"


def test_figures_of_seven_processes() -> None:
    assert result_file().results[0].summary == Summary(
        processes=7,
        step_time_ms=4.15,
        step_time_ms_low=4.0,
        step_time_ms_high=4.3,
        interval_level=1 - 2 / 128,
        latency_ms=4.565,
        latency_ms_p95=4.565,
        items_per_second=pytest.approx(8 / 4.15e-3),  # type: ignore[arg-type]
        tflops_per_second=pytest.approx(12e9 / 4.15e-3 / 1e12),  # type: ignore[arg-type]
        peak_bytes=512_000_000,
        peak_method="host_rss",
        compile_ms=1000.0,
    )


def test_a_process_counts_once_however_many_blocks_it_has() -> None:
    slow = process(2, 9.0, block_ns=[90_000_000] * 500)
    assert summarise([process(0, 1.0), process(1, 2.0), slow], work()).step_time_ms == 2.0


def test_a_block_in_the_middle_and_no_mean_gives_a_process_its_figure() -> None:
    blocks = [40_000_000, 41_000_000, 10**12]
    assert summarise([process(0, block_ns=blocks)], None).step_time_ms == 4.1


def test_where_a_block_is_a_step_the_blocks_are_the_latency() -> None:
    summary = summarise([process(0, 4.0, steps=1)], work())
    assert summary.latency_ms == 4.0
    assert summary.latency_ms_p95 == 4.0  # 20 blocks


def test_a_tail_of_fewer_than_twenty_samples_is_not_given() -> None:
    short = process(1, latency_ns=[4_000_000] * 19)
    summary = summarise([process(0), short], work())
    assert summary.latency_ms is not None
    assert summary.latency_ms_p95 is None


def test_what_is_not_known_stays_null() -> None:
    empty = summarise([], None)
    assert msgspec.to_builtins(empty) == dict.fromkeys(Summary.__struct_fields__) | {"processes": 0}
    unknown = work(flops=None, flops_terms={}, flops_reason="no formula", items=None)
    summary = summarise([process(0, memory=memory(None, method=None, reason="no way"))], unknown)
    assert summary.tflops_per_second is None
    assert summary.items_per_second is None
    assert summary.peak_bytes is None
    assert summary.peak_method is None


def test_only_cold_compiles_count() -> None:
    cached = Compile(trace_ns=1, lower_ns=1, compile_ns=1, first_call_ns=1, cache="cached")
    called = Compile(trace_ns=None, lower_ns=None, compile_ns=None, first_call_ns=1, cache="call")
    assert summarise([process(0), process(1, compile=cached)], None).compile_ms == 1000.0
    assert summarise([process(0, compile=cached), process(1, compile=called)], None).compile_ms is None


def test_peaks_by_different_methods_are_not_mixed() -> None:
    processes = [process(0), process(1), process(2, memory=memory(10**12, method="static"))]
    summary = summarise(processes, None)
    assert (summary.peak_bytes, summary.peak_method) == (512_000_000, "host_rss")


def status(*parts: Outcome, state: str = "complete") -> tuple[str, str | None]:
    file = fold(header(CASE), parts, state, None if state == "running" else END)  # type: ignore[arg-type]
    return file.results[0].status, file.results[0].reason


def test_a_case_without_a_failure_is_ok() -> None:
    assert status(outcome(CASE, process(0))) == ("ok", None)


def test_the_first_failure_gives_the_status_and_good_processes_are_kept() -> None:
    oom = failure(1, status="oom", stage="first_call", reason="RESOURCE_EXHAUSTED: 4 GB.\nAllocations: ...")
    later = failure(2, status="timeout", reason="took longer than 600 s")
    parts = [outcome(CASE, later), outcome(CASE, process(0)), outcome(CASE, oom)]
    assert status(*parts) == (
        "oom",
        "RESOURCE_EXHAUSTED: 4 GB (round 2, first call; 1 more failed; figures of 1 other process are kept)",
    )
    file = fold(header(CASE), parts, "complete", END)
    assert file.results[0].failures == [oom, later]
    assert file.results[0].summary.processes == 1


def test_a_case_that_never_started_is_skipped() -> None:
    assert status(state="running") == ("skipped", "not measured yet")
    assert status(state="interrupted") == ("skipped", "never started: the run ended before its turn")


def test_work_comes_from_whichever_process_knows_it() -> None:
    first = outcome(CASE, failure(0))
    file = fold(header(CASE), [first, outcome(CASE, process(1))], "complete", END)
    assert file.results[0].work == work()


def test_an_outcome_of_another_run_is_a_bug() -> None:
    with pytest.raises(ValueError, match="not a case of run 0badcafe"):
        fold(header(CASE), [outcome(case(batch=99), process(0))], "complete", END)


def test_the_run_gets_its_state_and_end_and_the_header_stays() -> None:
    head = header(CASE)
    file = fold(head, [], "interrupted", END)
    assert (file.run.state, file.run.finished_at) == ("interrupted", END)
    assert head.run == run()


CASES = [case(), case(batch=16), case("resnet")]
steps_ms = st.floats(0.001, 10_000)


@st.composite
def outcomes(draw: st.DrawFn) -> list[Outcome]:
    """For each case some rounds, each a process or a failure, with figures of any size."""
    found = []
    for of in CASES:
        for index in range(draw(st.integers(0, 9))):
            good = draw(st.booleans())
            part = process(index, draw(steps_ms), draw(st.integers(1, 99))) if good else failure(index)
            found.append(outcome(of, part))
    return found


@given(outcomes(), st.randoms())
def test_the_order_of_outcomes_makes_no_difference_and_none_is_lost(
    found: list[Outcome], random: object
) -> None:
    whole = fold(header(*CASES), found, "complete", END)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(header(*CASES), shuffled, "complete", END) == whole
    assert [result.key for result in whole.results] == [of.key for of in CASES]
    for result in whole.results:
        mine = [o for o in found if o.key == result.key]
        processes = [o.process for o in mine if o.process is not None]
        assert result.processes == processes
        assert result.failures == [o.failure for o in mine if o.failure is not None]
        assert result.summary.processes == len(processes)
        check_figures(result.summary, processes)


def check_figures(summary: Summary, processes: list[Process]) -> None:
    times = sorted(p.block_ns[0] / p.block_steps / 1e6 for p in processes)
    if not times:
        assert summary.step_time_ms is None
        return
    assert summary.step_time_ms is not None
    assert times[0] <= summary.step_time_ms * (1 + 1e-12)
    assert summary.step_time_ms <= times[-1] * (1 + 1e-12)
    assert (summary.interval_level is not None) == (len(times) >= 6)
    if summary.step_time_ms_low is not None and summary.step_time_ms_high is not None:
        assert summary.step_time_ms_low <= summary.step_time_ms * (1 + 1e-12)
        assert summary.step_time_ms <= summary.step_time_ms_high * (1 + 1e-12)


@given(outcomes())
def test_a_file_taken_apart_folds_to_itself(found: list[Outcome]) -> None:
    whole = fold(header(*CASES), found, "interrupted", END)
    head, parts = unfold(whole)
    assert fold(head, parts, "interrupted", END) == whole
