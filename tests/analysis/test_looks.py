"""Verdicts at the looks of interleaved pairs, from hand-made differences."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.analysis.compare import exit_code
from suite.analysis.looks import LOOKS, judge, latest_look, level_at_a_look, live, next_look
from suite.analysis.paired import are_partners, compare_pairs, differences
from suite.analysis.sides import gather
from suite.record.paired import Paired, SideName
from tests.builders import case, environment, failure, process
from tests.sides import Cases, run_file, scaled

# Spread of 1%, symmetric about 0, in an order that the first 8 and 16 share in it.
NOISE = [0.01 * x for x in (-1.0, 1.0, -0.5, 0.5, -0.2, 0.2, -0.8, 0.8)] * 4
STEPS = tuple(4.0 + 0.01 * n for n in range(32))


def slower(factor: float, pairs: int = 32) -> list[float]:
    return [math.log(factor) + noise for noise in NOISE[:pairs]]


def test_the_error_is_shared_by_looks_and_cases() -> None:
    assert LOOKS == (8, 16, 32)
    assert level_at_a_look(1) == pytest.approx(1 - 0.05 / 3, abs=1e-12)
    assert level_at_a_look(10) == pytest.approx(1 - 0.05 / 30, abs=1e-12)
    assert [next_look(pairs) for pairs in (0, 7, 8, 16, 31, 32)] == [8, 8, 16, 32, 32, None]


@pytest.mark.parametrize(
    ("factor", "outcome"),
    [(1.0, "equivalent"), (1.08, "regressed"), (1 / 1.08, "improved"), (1.05, "inconclusive")],
)
def test_where_the_interval_lies_decides(factor: float, outcome: str) -> None:
    verdict = judge(slower(factor, 8), 0.05, 0.95)
    assert verdict.outcome == outcome
    assert verdict.ratio.value == pytest.approx(factor)
    assert verdict.margin.source == "threshold"


def test_nothing_is_said_between_the_looks() -> None:
    assert latest_look(slower(2.0, 7), 0.05, 1) is None
    first = latest_look(slower(2.0, 8), 0.05, 1)
    assert first is not None
    assert (first.pairs, first.verdict.outcome, first.final) == (8, "regressed", True)
    # What comes later does not take it back: all looks hold at once.
    assert latest_look(slower(2.0, 8) + [0.0] * 24, 0.05, 1) == first


def test_a_case_that_is_not_settled_goes_on_to_the_next_look() -> None:
    # 1% either way about 4.5%: 8 pairs are beyond no margin, and the 24 that follow are at 9%.
    found = slower(1.045, 8) + slower(1.09)[8:]
    assert latest_look(found[:8], 0.05, 1).final is False  # type: ignore[union-attr]
    assert latest_look(found[:15], 0.05, 1).pairs == 8  # type: ignore[union-attr]
    last = latest_look(found, 0.05, 1)
    assert last is not None
    assert (last.pairs, last.verdict.outcome) == (32, "regressed")


def test_many_cases_have_no_verdict_at_the_first_look() -> None:
    three = latest_look(slower(2.0, 8), 0.05, 3)
    assert three is not None
    assert (three.verdict.outcome, three.verdict.needs, three.final) == ("inconclusive", 16, False)
    assert three.verdict.ratio.low is None


def test_needs_names_a_look_where_one_will_do() -> None:
    verdict = judge(slower(1.045, 8), 0.05, level_at_a_look(1))
    assert verdict.outcome == "inconclusive"
    assert verdict.needs is not None
    assert verdict.needs in LOOKS or verdict.needs > LOOKS[-1]
    assert judge([math.log(1.05) + n for n in NOISE[:8]], 0.05, 0.95).needs is None


@given(st.lists(st.floats(-1, 1), min_size=32, max_size=32))
def test_verdicts_turn_round_with_the_sides(found: list[float]) -> None:
    there, back = latest_look(found, 0.05, 1), latest_look([-d for d in found], 0.05, 1)
    assert there is not None
    assert back is not None
    swapped = {"regressed": "improved", "improved": "regressed"}
    outcome = there.verdict.outcome
    assert (back.pairs, back.verdict.outcome) == (there.pairs, swapped.get(outcome, outcome))


def test_the_live_interval_is_there_with_any_number() -> None:
    assert live([0.1], 1).low is None
    assert live(slower(1.1, 11), 1).low == pytest.approx(1.1, rel=0.02)


def two_sides(folder: Path, before: Cases, after: Cases) -> list[str]:
    """The two files of an `ab`, as far as it came."""

    def paired(side: SideName, partner: str) -> Paired:
        order: list[SideName] = ["base", "new"] * 16
        return Paired(side=side, partner=partner, first={of.key: order for of, _ in before})

    names = [folder / "base.json", folder / "new.json"]
    return [
        run_file(names[0], before, id="aa", paired=paired("base", "bb"), processes_planned=32),
        run_file(names[1], after, id="bb", paired=paired("new", "aa"), processes_planned=32),
    ]


def test_two_files_are_paired_by_index(tmp_path: Path) -> None:
    base = [process(n, 4.0 + n) for n in (0, 1, 2)]
    new = [process(n, 8.0 + 2 * n) for n in (2, 0, 5)]
    assert differences(base, new, "step_time") == pytest.approx([math.log(2)] * 2)


def test_the_files_read_again_give_the_verdicts(tmp_path: Path) -> None:
    fast, slow, out = case(batch=1), case(batch=2), case(batch=3)
    oom = [failure(0, status="oom", reason="too large")]
    before = [(fast, STEPS[:16]), (slow, STEPS[:16]), (out, STEPS[:1])]
    after = [(fast, STEPS[:16]), (slow, scaled(STEPS[:16], 1.2)), (out, oom)]
    gathered = gather(two_sides(tmp_path, before, after))
    assert are_partners(gathered)
    comparison = compare_pairs(gathered, "step_time", 0.05)
    rows = {row.key: row for row in comparison.pairings[0].rows}
    assert comparison.level == level_at_a_look(3)
    said = {key: (row.state, row.verdict and row.verdict.outcome, row.pairs) for key, row in rows.items()}
    assert said == {
        fast.key: ("compared", "equivalent", 16),
        slow.key: ("compared", "regressed", 16),
        out.key: ("failed", None, None),
    }
    base = rows[fast.key].base
    assert base is not None
    assert [note.code for note in base.warnings if note.code == "few_processes"] == []
    assert exit_code(comparison, strict=False) == 1


def test_between_two_looks_there_is_no_verdict(tmp_path: Path) -> None:
    after = [step * math.exp(change) for step, change in zip(STEPS, slower(1.051, 11), strict=False)]
    gathered = gather(two_sides(tmp_path, [(case(), STEPS[:11])], [(case(), after)]))
    comparison = compare_pairs(gathered, "step_time", 0.05)
    (row,) = comparison.pairings[0].rows
    assert (row.state, row.verdict, row.ratio, row.pairs) == ("not_a_verdict", None, None, 11)
    assert row.live is not None
    assert row.live.value == pytest.approx(1.051, rel=0.005)
    assert "after 11 pairs" in (row.reason or "")
    assert "after 16" in (row.reason or "")
    assert [exit_code(comparison, strict) for strict in (False, True)] == [0, 4]


def test_a_verdict_of_an_earlier_look_stands(tmp_path: Path) -> None:
    gathered = gather(two_sides(tmp_path, [(case(), STEPS[:11])], [(case(), scaled(STEPS[:11], 1.5))]))
    (row,) = compare_pairs(gathered, "step_time", 0.05).pairings[0].rows
    assert row.verdict is not None
    assert (row.verdict.outcome, row.pairs) == ("regressed", 8)


def test_other_files_are_no_partners(tmp_path: Path) -> None:
    one, other = two_sides(tmp_path, [(case(), STEPS[:8])], [(case(), STEPS[:8])])
    stranger = run_file(tmp_path / "c.json", [(case(), STEPS[:8])], environment())
    assert not are_partners(gather([one, stranger]))
    assert not are_partners(gather([one, other, stranger]))
    assert are_partners(gather([other, one]))
