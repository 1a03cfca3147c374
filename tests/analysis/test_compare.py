"""Which cases match, and what becomes of those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suite.analysis.compare import Comparison, Row, compare, exit_code
from suite.analysis.metrics import Metric
from suite.analysis.sides import gather
from suite.analysis.verdict import measured_margin
from suite.errors import ConfigError, ResultFileError
from suite.record.schema import Compile, Conditions, Environment, Memory
from tests.builders import STEPS_MS, case, environment, failure, memory, process
from tests.sides import Cases, gpu, newer, run_file, scaled

GPT = case("gpt", preset="gpt2-124m", layers="scan", params={"sequence": 64})


def compared(*names: str, metric: Metric = "step_time", threshold: float = 0.05) -> Comparison:
    return compare(
        gather(names), metric, threshold, lambda key, verdicts: measured_margin(threshold, 0.02, 0.02, 8)
    )


def both(
    tmp_path: Path, before: Cases, after: Cases, place: Environment | None = None, **how: Any
) -> Comparison:
    """Two runs, compared; `place` is where the second took place."""
    return compared(run_file(tmp_path / "a.json", before), run_file(tmp_path / "b.json", after, place), **how)


def only_row(comparison: Comparison) -> Row:
    (row,) = comparison.pairings[0].rows
    return row


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


class TestGathering:
    def test_a_folder_gives_the_newest_result_of_each_case(self, tmp_path: Path) -> None:
        run_file(
            tmp_path / "old/1.json",
            [(case(), STEPS_MS), (GPT, STEPS_MS)],
            started_at="2026-01-01T12:00:00Z",
        )
        run_file(
            tmp_path / "old/x/2.json",
            [(case(), scaled(STEPS_MS, 2)), (GPT, ())],
            started_at="2026-01-02T12:00:00Z",
        )
        new = run_file(tmp_path / "new.json", [(case(), scaled(STEPS_MS, 2)), (GPT, STEPS_MS)])
        found = compared(str(tmp_path / "old"), new)
        assert [row.ratio and round(row.ratio.value, 6) for row in found.pairings[0].rows] == [1.0, 1.0], (
            "the newer run of one case, and the older of the case that the newer run did not reach"
        )
        assert found.base.superseded == 2

    def test_other_json_in_a_folder_is_named_and_skipped(self, tmp_path: Path) -> None:
        a = run_file(tmp_path / "a.json", [(case(), STEPS_MS)])
        run_file(tmp_path / "b/b.json", [(case(), STEPS_MS)])
        (tmp_path / "b/package.json").write_text('{"name": "x"}')
        (tmp_path / "b/bench.json").write_text('{"machine_info": {}, "benchmarks": []}')
        (tmp_path / "b/notes.txt").write_text("no")
        for argument in (str(tmp_path / "b"), str(tmp_path / "b/*.json")):
            found = compared(a, argument)
            assert found.pairings[0].compared
            assert len(found.skipped) == 2
            assert (
                "bench.json: expected a result file of jaxmark, found results of pytest-benchmark"
                in (found.skipped[0])
            )
            assert "package.json: expected a result file of jaxmark" in found.skipped[1]

    def test_other_json_named_by_itself_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "bench.json").write_text('{"machine_info": {}, "benchmarks": []}')
        with pytest.raises(ResultFileError, match="found results of pytest-benchmark"):
            gather([str(tmp_path / "bench.json")])

    def test_folders_and_globs_with_nothing(self, tmp_path: Path) -> None:
        for argument in (str(tmp_path), str(tmp_path / "*.json")):
            with pytest.raises(ResultFileError, match=r"found no \.json file"):
                gather([argument])
        (tmp_path / "x.json").write_text("{}")
        with pytest.raises(ResultFileError, match=r"1 \.json files, none of them readable: .*x\.json"):
            gather([str(tmp_path)])
        with pytest.raises(ResultFileError, match="No file"):
            gather([str(tmp_path / "none.json")])

    def test_several_machines_in_a_folder_are_a_side_each(self, tmp_path: Path) -> None:
        run_file(tmp_path / "a.json", [(case(), STEPS_MS)], started_at="2026-01-01T12:00:00Z")
        run_file(tmp_path / "b.json", [(case(), STEPS_MS)], gpu())
        (pairing,) = compared(str(tmp_path)).pairings
        assert not pairing.same_machine

    def test_one_run_twice_is_refused_under_any_name(self, tmp_path: Path) -> None:
        a = run_file(tmp_path / "a.json", [(case(), STEPS_MS)])
        run_file(tmp_path / "copy.json", [(case(), STEPS_MS)], id="a")
        (tmp_path / "link.json").symlink_to(tmp_path / "a.json")
        for other, same in ((a, "file"), (str(tmp_path / "link.json"), "file"), ("copy.json", "run")):
            with pytest.raises(ConfigError, match=rf"are the same {same} \(id a\)"):
                gather([a, str(tmp_path / other)])

    def test_one_side_is_not_enough(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="at least one other run"):
            compared(run_file(tmp_path / "a.json", [(case(), STEPS_MS)]))

    def test_zero_and_negative_times_are_refused_on_load(self, tmp_path: Path) -> None:
        a = run_file(tmp_path / "a.json", [(case(), STEPS_MS)])
        text = Path(a).read_text()
        for wrong in ("0", "-40000000"):
            (tmp_path / "b.json").write_text(text.replace("[40000000,", f"[{wrong},"))
            with pytest.raises(ResultFileError, match=r"Expected `int` >= 1"):
                gather([a, str(tmp_path / "b.json")])


class TestWarnings:
    def codes(self, tmp_path: Path, before: Cases, after: Cases, **how: Any) -> list[str]:
        row = only_row(both(tmp_path, before, after, **how))
        return [note.code for note in row.notes]

    def test_a_quiet_pair_has_none(self, tmp_path: Path) -> None:
        assert self.codes(tmp_path, [(case(), STEPS_MS)], [(case(), STEPS_MS)]) == []

    def test_what_the_runs_said(self, tmp_path: Path) -> None:
        busy = Conditions(load_average_before=0.4, steady=False)
        after = [process(n, ms, conditions=busy) for n, ms in enumerate((4.0, 4.1, 4.2, 4.3, 4.1, 4.0, 6.0))]
        assert self.codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)]) == ["not_steady", "spread"]
        assert self.codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)], metric="memory") == []

    @pytest.mark.parametrize(
        ("code", "changes"),
        [
            ("load_differs", {"conditions": Conditions(load_average_before=1.6)}),
            ("heavier_tail", {"latency_ns": [4_400_000] * 27 + [9_000_000] * 3}),
            ("autocorrelation", {"block_ns": [40_000_000 + 10_000 * n for n in range(20)]}),
        ],
    )
    def test_what_the_two_together_show(self, tmp_path: Path, code: str, changes: dict[str, Any]) -> None:
        after = [process(n, ms, **changes) for n, ms in enumerate(STEPS_MS)]
        assert self.codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)]) == [code]

    def test_the_clock(self, tmp_path: Path) -> None:
        slow, fast = (
            [
                process(n, ms, conditions=Conditions(load_average_before=0.4, cpu_mhz_before=mhz))
                for n, ms in enumerate(STEPS_MS)
            ]
            for mhz in (2000.0, 2500.0)
        )
        assert self.codes(tmp_path, [(case(), slow)], [(case(), fast)]) == ["clock"]

    def test_blocks_of_one_step_and_of_several(self, tmp_path: Path) -> None:
        ones = [process(n, ms, steps=1) for n, ms in enumerate(STEPS_MS)]
        assert self.codes(tmp_path, [(case(), ones)], [(case(), STEPS_MS)]) == ["block_steps"]

    def test_other_work_under_the_same_name(self, tmp_path: Path) -> None:
        names = [run_file(tmp_path / f"{name}.json", [(case(), STEPS_MS)]) for name in "ab"]
        text = Path(names[1]).read_text()
        Path(names[1]).write_text(
            text.replace('"flops":12000000000', '"flops":13000000000').replace(
                '"gradient":8000000000', '"gradient":9000000000'
            )
        )
        (note,) = only_row(compared(*names)).notes
        assert note.code == "work_differs"
        assert "12,000,000,000 FLOPs in base and 13,000,000,000 in new" in note.message


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
