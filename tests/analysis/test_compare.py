"""Which cases match, and what becomes of those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suite.analysis.compare import exit_code
from suite.analysis.metrics import Metric
from suite.record.schema import Compile, Memory
from tests.analysis.comparing import GPT, both, compared, only_row
from tests.builders import STEPS_MS, case, environment, failure, memory, process
from tests.sides import gpu, newer, run_file, scaled


@pytest.mark.parametrize(
    ("factor", "outcome", "code"),
    [(1.0, "equivalent", 0), (1.2, "regressed", 1), (0.8, "improved", 0), (1.05, "inconclusive", 0)],
)
def test_one_machine_gets_verdicts(tmp_path: Path, factor: float, outcome: str, code: int) -> None:
    steady = (4.0, 4.01, 4.02, 3.99, 3.98, 4.03, 3.97)
    found = both(tmp_path, [(case(), steady)], [(case(), scaled(steady, factor))])
    row = only_row(found)
    assert row.verdict is not None
    assert row.verdict.outcome == outcome
    assert exit_code(found, strict=False) == code
    assert exit_code(found, strict=True) == (4 if outcome == "inconclusive" else code)


def test_the_level_follows_the_number_of_verdicts(tmp_path: Path) -> None:
    cases = [(case(batch=n), STEPS_MS) for n in range(1, 5)]
    a, b, c = (run_file(tmp_path / f"{name}.json", cases) for name in "abc")
    found = compared(a, b, c)
    assert found.verdicts == 8, "four cases in each of two comparisons"
    assert found.level == pytest.approx(1 - 0.05 / 8)
    assert all(row.ratio is not None and row.ratio.level >= found.level for row in found.pairings[1].rows)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"batch": 16}, "batch 8 against 16"),
        ({"precision": "bf16"}, "precision fp32 against bf16"),
        ({"prng": "rbg"}, "prng threefry2x32 against rbg"),
        ({"layers": "scan"}, "layers unroll against scan"),
        ({"version": 2}, "version 1 against 2"),
        ({"preset": "large"}, "preset smoke against large"),
        ({"mode": "infer"}, "mode train against infer"),
        ({"mesh": "data=2"}, "mesh None against data=2"),
        ({"path": "call"}, "path aot against call"),
        ({"params": {"sequence": 64}}, "params.sequence not set against 64"),
        ({"batch": 16, "precision": "bf16"}, "precision fp32 against bf16, batch 8 against 16"),
    ],
)
def test_another_case_never_gives_a_ratio(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    for place in (None, gpu()):
        found = both(tmp_path, [(case(), STEPS_MS)], [(case(**changes), STEPS_MS)], place)
        row = only_row(found)
        assert (row.state, row.reason) == ("not_comparable", why)
        assert row.ratio is None
        assert found.pairings[0].score is None
        assert exit_code(found, strict=False) == 3


@pytest.mark.parametrize("machine", [{"device_count": 8}, {"machine_id": "m-other", "device_count": 8}])
def test_another_number_of_devices_never_gives_a_ratio(tmp_path: Path, machine: dict[str, Any]) -> None:
    found = both(tmp_path, [(case(), STEPS_MS)], [(case(), STEPS_MS)], environment(**machine))
    row = only_row(found)
    assert (row.state, row.reason) == ("not_comparable", "device count 1 against 8")
    assert row.ratio is None
    assert exit_code(found, strict=False) == 3


def test_another_case_beside_a_common_one_is_no_pass(tmp_path: Path) -> None:
    found = both(
        tmp_path, [(GPT, STEPS_MS), (case(), STEPS_MS)], [(GPT, STEPS_MS), (case(batch=9), STEPS_MS)]
    )
    assert [row.state for row in found.pairings[0].rows] == ["compared", "not_comparable"]
    assert exit_code(found, strict=False) == 1


def test_other_software_gives_verdicts_with_its_fields(tmp_path: Path) -> None:
    place = newer(jax="0.12.0.1", python="3.13.0", variables={"XLA_FLAGS": "--a", "JAX_PLATFORMS": "cpu"})
    place.machine.ram_bytes = 8_589_934_592 - 40_000_000  # another kernel keeps more of it
    found = both(tmp_path, [(case(), STEPS_MS)], [(case(), STEPS_MS)], place)
    (pairing,) = found.pairings
    assert pairing.same_machine
    assert [(d.field, d.base, d.new) for d in pairing.differences] == [
        ("python", "3.12.1", "3.13.0"),
        ("jax", "0.10.2", "0.12.0.1"),
        ("XLA_FLAGS", "not set", "--a"),
    ]
    assert only_row(found).verdict is not None


@pytest.mark.parametrize(
    "machine",
    [
        {"machine_id": "m-other"},
        {"device_kind": "NVIDIA L4", "platform": "cuda"},
        {"cpu_model": "Other CPU"},
        {"ram_bytes": 17_179_869_184},
    ],
)
def test_another_machine_gives_a_ratio_and_no_verdict(tmp_path: Path, machine: dict[str, Any]) -> None:
    slow = [(case(), scaled(STEPS_MS, 10))]
    found = both(tmp_path, [(case(), STEPS_MS)], slow, environment(**machine))
    row = only_row(found)
    assert not found.pairings[0].same_machine
    assert found.pairings[0].alike == ("machine_id" in machine)
    assert row.ratio is not None
    assert row.ratio.value == pytest.approx(10)
    assert row.verdict is None
    assert exit_code(found, strict=True) == 0


@pytest.mark.parametrize("status", ["oom", "wrong", "crashed", "timeout"])
def test_a_failed_case_is_never_a_pass(tmp_path: Path, status: str) -> None:
    good, bad = [(case(), STEPS_MS)], [(case(), [*STEPS_MS[:6], failure(6, status=status)])]
    for number, (before, after, side) in enumerate(
        ((good, bad, "new"), (bad, good, "base"), (bad, bad, "base"))
    ):
        found = both(tmp_path / str(number), before, after)
        row = only_row(found)
        assert row.state == "failed"
        assert (row.reason or "").startswith(f"{side} {status}: the worker was killed")
        assert row.ratio is None
        assert exit_code(found, strict=False) == 1


def test_on_another_machine_a_failure_is_information(tmp_path: Path) -> None:
    oom = [failure(0, status="oom", reason="RESOURCE_EXHAUSTED")]
    found = both(tmp_path, [(GPT, STEPS_MS), (case(), STEPS_MS)], [(GPT, oom), (case(), STEPS_MS)], gpu())
    assert [row.state for row in found.pairings[0].rows] == ["failed", "compared"]
    assert exit_code(found, strict=False) == 0


def test_a_case_that_was_not_reached_is_missing(tmp_path: Path) -> None:
    found = both(tmp_path, [(GPT, STEPS_MS), (case(), STEPS_MS)], [(GPT, STEPS_MS), (case(), ())])
    row = found.pairings[0].rows[1]
    assert row.state == "missing"
    assert (row.reason or "").startswith("new skipped: never started")
    assert exit_code(found, strict=False) == 1


def test_missing_and_added_cases(tmp_path: Path) -> None:
    far = case(batch=64, precision="bf16", layers="scan")
    added = both(tmp_path / "1", [(case(), STEPS_MS)], [(case(), STEPS_MS), (far, STEPS_MS)])
    row = added.pairings[0].rows[1]
    assert (row.state, row.reason) == (
        "added",
        "not in base; its nearest differs in precision, batch, layers",
    )
    assert exit_code(added, strict=False) == 0
    assert exit_code(added, strict=True) == 4
    missing = both(tmp_path / "2", [(case(), STEPS_MS), (GPT, STEPS_MS)], [(case(), STEPS_MS)])
    row = missing.pairings[0].rows[1]
    assert (row.state, row.reason) == ("missing", "not in new")
    assert exit_code(missing, strict=False) == 1


def test_no_common_case(tmp_path: Path) -> None:
    found = both(tmp_path, [(case(), STEPS_MS)], [(GPT, STEPS_MS)])
    assert [row.state for row in found.pairings[0].rows] == ["missing", "added"]
    assert exit_code(found, strict=False) == 3


def test_the_geometric_mean_is_over_what_was_compared(tmp_path: Path) -> None:
    others = [case(batch=2), case(batch=4)]
    before = [(others[0], STEPS_MS), (others[1], STEPS_MS), (GPT, STEPS_MS)]
    after = [(others[0], scaled(STEPS_MS, 2)), (others[1], scaled(STEPS_MS, 8)), (GPT, [failure()])]
    score = both(tmp_path, before, after).pairings[0].score
    assert score is not None
    assert score.cases == 2
    assert score.ratio == pytest.approx(4)


def test_one_process_a_side(tmp_path: Path) -> None:
    row = only_row(both(tmp_path, [(case(), [4.0])], [(case(), [8.0])]))
    assert row.verdict is not None
    assert (row.verdict.outcome, row.verdict.needs) == ("inconclusive", 5)


def test_equal_samples(tmp_path: Path) -> None:
    row = only_row(both(tmp_path, [(case(), [4.0] * 7)], [(case(), [4.0] * 7)]))
    assert row.verdict is not None
    assert row.verdict.outcome == "equivalent"
    assert (row.verdict.ratio.low, row.verdict.ratio.high) == (1.0, 1.0)


def test_each_metric_by_hand(tmp_path: Path) -> None:
    quick = [process(n, 4.0, memory=memory(100_000_000 + n)) for n in range(7)]
    slow = [
        process(
            n,
            4.0,
            latency_ns=[8_800_000] * 28 + [17_600_000] * 2,
            memory=memory(300_000_000 + 3 * n),
            compile=Compile(
                trace_ns=100, lower_ns=0, compile_ns=2_000_000_000 - 100, first_call_ns=1, cache="cold"
            ),
        )
        for n in range(7)
    ]
    ratios = {"step_time": 1.0, "latency": 2.0, "tail": 3.5, "memory": 3.0, "compile": 2.0}
    for metric, expected in ratios.items():
        row = only_row(both(tmp_path, [(case(), quick)], [(case(), slow)], metric=metric))
        assert row.ratio is not None, metric
        if metric == "tail":
            # Rank 27.55 of 30 values: 8.8 ms + 0.55 * 8.8 ms, over 4.4 ms.
            expected = (8.8 + 0.55 * 8.8) / 4.4
        assert row.ratio.value == pytest.approx(expected), metric


def test_memory_by_different_methods_does_not_compare(tmp_path: Path) -> None:
    other = [process(n, memory=memory(method="host_rss_lifetime")) for n in range(7)]
    for place in (None, gpu()):
        found = both(tmp_path, [(case(), STEPS_MS)], [(case(), other)], place, metric="memory")
        row = only_row(found)
        assert (row.state, row.ratio) == ("not_comparable", None)
        assert row.reason == "memory method host_rss against host_rss_lifetime"


@pytest.mark.parametrize(
    ("metric", "part", "why"),
    [
        ("memory", {"memory": Memory(reason="not on this system")}, "not on this system"),
        ("tail", {"latency_ns": [1] * 19}, "a 95th percentile needs 20 single steps a process, found 19"),
        ("latency", {"latency_ns": None}, "no single steps were timed"),
        (
            "compile",
            {"compile": Compile(trace_ns=1, lower_ns=1, compile_ns=1, first_call_ns=1, cache="cached")},
            "no process compiled cold (cached)",
        ),
    ],
)
def test_a_metric_that_is_not_there_says_why(
    tmp_path: Path, metric: Metric, part: dict[str, Any], why: str
) -> None:
    without = [process(n, **part) for n in range(7)]
    found = both(tmp_path, [(case(), STEPS_MS)], [(case(), without)], metric=metric)
    row = only_row(found)
    assert (row.state, row.reason) == ("no_figure", f"new: {why}")
    assert exit_code(found, strict=False) == 3


PARTS: dict[str, Any] = {
    "good": STEPS_MS,
    "slow": scaled(STEPS_MS, 2),
    "few": STEPS_MS[:2],
    "failed": [failure()],
    "broken off": [*STEPS_MS[:6], failure(6)],
    "never": (),
}


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(*[st.sampled_from([*PARTS, "absent"])] * 2), min_size=1, max_size=4),
    st.booleans(),
)
def test_only_what_was_compared_can_pass(tmp_path: Path, cases: list[tuple[str, str]], strict: bool) -> None:
    sides = [
        [(case(batch=n + 1, params={"n": n * n}), PARTS[pair[side]]) for n, pair in enumerate(cases)
         if pair[side] != "absent"]
        for side in (0, 1)
    ]  # fmt: skip
    if not all(sides):
        return
    code = exit_code(both(tmp_path, *sides), strict)
    passing = {("good", "good"), ("slow", "slow"), ("slow", "good")}
    unsettled = {(a, b) for a in ("good", "slow", "few") for b in ("good", "slow", "few") if "few" in (a, b)}
    pairs = set(cases) - {("absent", "absent")}
    added = {pair for pair in pairs if pair[0] == "absent"}
    if code == 0:
        assert pairs - added <= passing | unsettled
        assert not strict or pairs <= passing
    if code == 4:
        assert strict
        assert pairs & (unsettled | added)
    if code == 3:
        assert all("absent" in pair for pair in pairs)
    if pairs <= passing:
        assert code == 0


def test_unicode_and_very_long_names(tmp_path: Path) -> None:
    strange = case("模型:naïve🙂" + "x" * 3000, preset="own", mode="own", precision="own", layers="own")
    row = only_row(both(tmp_path, [(strange, STEPS_MS)], [(strange, STEPS_MS)]))
    assert row.verdict is not None
