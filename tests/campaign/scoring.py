"""What a campaign's files say: false alarms of identical arms and misses of slowed ones, together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.analysis.compare import MarginOf, Row, compare
from suite.analysis.per_process import step_time_ns
from suite.analysis.sides import gather
from suite.analysis.verdict import Margin, assumed_margin
from suite.record.schema import Result

ARMS = ("base", "same", "slow")
HALF_WIDTHS = 2.5
ALARMS_ALLOWED = 0.02
FOUND_WANTED = 0.95
QUIET = 0.02
"""Spread between processes up to which a change of 10% must be found."""


@dataclass(frozen=True)
class Seen:
    """One case of one pair.

    Attributes:
        same: verdict of base against its identical arm.
        slow: verdict of base against the slowed arm.
        effect: log of slow over base, estimated from this pair.
        needed: the smallest effect that this pair is asked to find: margin and 2.5 half-widths, as a log.
        spread: standard deviation of the log step times of base's processes.
    """

    case: str
    same: str
    slow: str
    effect: float
    needed: float
    spread: float


@dataclass(frozen=True)
class CaseScore:
    """One case over all pairs.

    Attributes:
        alarms: pairs whose identical arm was called regressed or improved.
        eligible: pairs in which the true effect was as large as `Seen.needed`.
        found: those of them that were called regressed.
        effect: the true one, as a fraction: the median over pairs.
        smallest: change that the median pair could have found, as a fraction.
        spread: median over pairs.
    """

    case: str
    pairs: int
    alarms: int
    eligible: int
    found: int
    effect: float
    smallest: float
    spread: float


def assumed(threshold: float) -> MarginOf:
    """As `compare` judges a CPU of which no noise floor is known."""
    return lambda key, verdicts: assumed_margin(threshold, "cpu")


def alone(threshold: float) -> MarginOf:
    """As `compare` judges where the floor is below the threshold."""
    return lambda key, verdicts: Margin(threshold, "threshold")


def pair_files(folder: Path) -> list[list[str]]:
    """The three files of each finished pair."""
    found = []
    for pair in sorted(folder.glob("pair-*")):
        files = [sorted(pair.glob(f"{arm}/*/*.json")) for arm in ARMS]
        if (pair / "done").exists() and all(len(paths) == 1 for paths in files):
            found.append([str(paths[0]) for paths in files])
    return found


def seen_in(pairs: Sequence[Sequence[str]], threshold: float, margin_of: MarginOf) -> Iterator[Seen]:
    """Every case of every pair, through the code that `jaxmark compare` goes through."""
    for base, same, slow in pairs:
        identical = _rows(base, same, threshold, margin_of)
        for key, slowed in _rows(base, slow, threshold, margin_of).items():
            verdict, ratio = slowed.verdict, slowed.ratio
            assert verdict is not None
            assert ratio is not None
            assert ratio.low is not None
            assert ratio.high is not None
            assert slowed.base is not None
            margin = math.log1p(margin_of(key, len(identical)).fraction)
            half = math.log(ratio.high / ratio.low) / 2
            yield Seen(
                case=key,
                same=_outcome(identical[key]),
                slow=verdict.outcome,
                effect=math.log(ratio.value),
                needed=margin + HALF_WIDTHS * half,
                spread=_spread(slowed.base),
            )


def score(seen: Sequence[Seen]) -> list[CaseScore]:
    """A line for each case."""
    scores = []
    for case in dict.fromkeys(one.case for one in seen):
        mine = [one for one in seen if one.case == case]
        effect = statistics.median(one.effect for one in mine)
        eligible = [one for one in mine if effect >= one.needed]
        scores.append(
            CaseScore(
                case=case,
                pairs=len(mine),
                alarms=sum(one.same in ("regressed", "improved") for one in mine),
                eligible=len(eligible),
                found=sum(one.slow == "regressed" for one in eligible),
                effect=math.expm1(effect),
                smallest=math.expm1(statistics.median(one.needed for one in mine)),
                spread=statistics.median(one.spread for one in mine),
            )
        )
    return scores


def in_words(title: str, scores: Sequence[CaseScore]) -> tuple[str, bool]:
    """The table of one way to judge, and whether both bars were met."""
    lines = [title, "", "  pairs  alarms  found    effect  smallest  spread  case"]
    for one in scores:
        lines.append(
            f"{one.pairs:7d} {one.alarms:7d} {one.found:3d}/{one.eligible:<3d} {one.effect:+8.1%} "
            f"{one.smallest:+9.1%} {one.spread:7.1%}  {one.case}"
        )
    alarms, pairs = sum(one.alarms for one in scores), sum(one.pairs for one in scores)
    found, eligible = sum(one.found for one in scores), sum(one.eligible for one in scores)
    fine = alarms <= ALARMS_ALLOWED * pairs and (not eligible or found >= FOUND_WANTED * eligible)
    lines += [
        "",
        f"identical arms called changed: {alarms} of {pairs} "
        f"({alarms / pairs:.1%}; allowed {ALARMS_ALLOWED:.0%})",
        f"slowed arms called regressed: {found} of {eligible} that were slowed enough"
        + (f" ({found / eligible:.1%}; wanted {FOUND_WANTED:.0%})" if eligible else ": none was"),
    ]
    for one in scores:
        quiet = one.spread <= QUIET
        least = "a change of 10% must be found" if quiet else "too noisy to ask for 10%"
        lines.append(
            f"{one.case}: processes spread by {one.spread:.1%}, {least}; the smallest change that is found "
            f"reliably is {one.smallest:+.1%}"
        )
        fine = fine and not (quiet and one.smallest > 0.10 and "threshold alone" in title)
    return "\n".join(lines), fine


def _rows(base: str, new: str, threshold: float, margin_of: MarginOf) -> dict[str, Row]:
    comparison = compare(gather([base, new]), "step_time", threshold, margin_of)
    return {row.key: row for row in comparison.pairings[0].rows}


def _outcome(row: Row) -> str:
    assert row.verdict is not None
    return row.verdict.outcome


def _spread(result: Result) -> float:
    return statistics.stdev(math.log(step_time_ns(process)) for process in result.processes)
