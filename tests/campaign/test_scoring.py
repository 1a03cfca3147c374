"""The campaign's score from hand-made files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.builders import case
from tests.campaign import scoring
from tests.sides import Steps, run_file, scaled

STEPS = (4.00, 4.01, 4.02, 3.99, 3.98, 4.03, 3.97)


def pair(folder: Path, number: int, same: Steps, slow: Steps) -> None:
    for arm, steps in (("base", STEPS), ("same", same), ("slow", slow)):
        path = folder / f"pair-{number:03d}" / arm / "cpu" / "run.json"
        run_file(path, [(case(), steps)], id=f"{number}{arm}")
    (folder / f"pair-{number:03d}" / "done").touch()


def scored(folder: Path) -> tuple[scoring.CaseScore, str, bool]:
    seen = list(scoring.seen_in(scoring.pair_files(folder), 0.05, scoring.alone(0.05)))
    (one,) = scoring.score(seen)
    return (one, *scoring.in_words("by the threshold alone", [one]))


def test_no_alarm_and_every_slowdown_found(tmp_path: Path) -> None:
    for number in range(3):
        pair(tmp_path, number, scaled(STEPS, 1.001), scaled(STEPS, 1.2))
    one, text, fine = scored(tmp_path)
    assert (one.pairs, one.alarms, one.eligible, one.found, fine) == (3, 0, 3, 3, True)
    assert one.effect == pytest.approx(0.2)
    # 5%, and 2.5 times half of an interval that is about 2% wide.
    assert 1.05 < one.smallest + 1 < 1.05 * math.exp(2.5 * 0.015)
    assert "identical arms called changed: 0 of 3" in text
    assert "a change of 10% must be found" in text


def test_an_alarm_and_a_miss_fail(tmp_path: Path) -> None:
    for number in range(2):
        pair(tmp_path, number, scaled(STEPS, 1.3), scaled(STEPS, 1.2))
    one, _, fine = scored(tmp_path)
    assert (one.alarms, fine) == (2, False)
    other = tmp_path / "misses"
    wide = (3.0, 3.4, 3.8, 4.2, 4.6, 5.0, 5.4)
    for number in range(3):
        pair(other, number, STEPS, scaled(STEPS, 1.2) if number else wide)
    one, _, fine = scored(other)
    # The pair whose interval is wide was not slowed enough to be asked for.
    assert (one.pairs, one.eligible, one.found, fine) == (3, 2, 2, True)


def test_a_pair_that_is_not_done_does_not_count(tmp_path: Path) -> None:
    pair(tmp_path, 0, STEPS, STEPS)
    pair(tmp_path, 1, STEPS, STEPS)
    (tmp_path / "pair-001" / "done").unlink()
    assert len(scoring.pair_files(tmp_path)) == 1
