"""How a comparison's figures, verdicts and gaps are written, in every format."""

from __future__ import annotations

from suite.analysis.compare import Comparison, Pairing, Row
from suite.analysis.intervals import MOST_PROCESSES
from suite.analysis.metrics import Figures, Metric
from suite.analysis.sides import Side
from suite.analysis.verdict import Ratio, Verdict
from suite.record.schema import Result
from suite.report import units
from suite.report.rows import labels

GAPS = {
    "failed": "failed",
    "missing": "missing",
    "no_figure": "no figure",
    "not_comparable": "not comparable",
    "added": "only in new",
    "not_a_verdict": "not a verdict",
}
MARKS = {"assumed": "*", "measured": "+", "threshold": ""}
"""Behind a margin: where it comes from."""

_PLAIN_CHANGE = 2.0


def header(comparison: Comparison, letter: str) -> list[str]:
    """The names of the columns of a table of verdicts."""
    pairs = ["pairs"] if comparison.paired else []
    return ["case", "A", letter, "change (interval)", *pairs, "margin", "verdict"]


def figure(figures: Figures, metric: Metric) -> str:
    """The median over processes with its unit; '-' without one."""
    middle = figures.middle
    if middle is None:
        return "-"
    return units.size(round(middle)) if metric == "memory" else units.time_ns(middle)


def change(ratio: Ratio) -> str:
    """'+8.1% (+5.0 to +11.2)', or '3.21x (3.10-3.35)' where percents would mislead."""
    numbers = [number for number in (ratio.value, ratio.low, ratio.high) if number is not None]
    if max(numbers) >= _PLAIN_CHANGE or min(numbers) <= 1 / _PLAIN_CHANGE:
        return times(ratio)
    text = f"{_percent(ratio.value)}%"
    if ratio.low is None or ratio.high is None:
        return f"{text} (no interval)"
    return f"{text} ({_percent(ratio.low)} to {_percent(ratio.high)})"


def times(ratio: Ratio) -> str:
    """'3.21x (3.10-3.35)'."""
    text = f"{units.significant(ratio.value)}x"
    if ratio.low is None or ratio.high is None:
        return f"{text} (no interval)"
    return f"{text} ({units.significant(ratio.low)}-{units.significant(ratio.high)})"


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f}"


def speed_up(ratio: Ratio) -> Ratio:
    """The ratio the other way round: above 1 is better."""
    low, high = (None if end is None else 1 / end for end in (ratio.high, ratio.low))
    return Ratio(1 / ratio.value, low, high, ratio.level)


def verdict(given: Verdict) -> str:
    """'regressed', or 'inconclusive: needs 24', or 'inconclusive: within noise'."""
    if given.outcome != "inconclusive":
        return given.outcome
    if given.within_noise:
        return "inconclusive: within noise"
    return f"inconclusive: needs {given.needs or f'>{MOST_PROCESSES}'}"


def margin(given: Verdict) -> str:
    """'10%*': the mark says where it comes from."""
    percent = f"{given.held_against * 100:.1f}".removesuffix(".0")
    return f"{percent}%{MARKS[given.margin.source]}"


def gap(row: Row) -> str:
    """What stands where a verdict would."""
    return GAPS[row.state]


def case_names(comparison: Comparison) -> dict[str, str]:
    """A short name for each case of any side, unique among them."""
    found: dict[str, Result] = {}
    for side in (comparison.base, *(pairing.new for pairing in comparison.pairings)):
        found = {**side.results, **found}
    return labels(list(found.values()))


def moment(side: Side) -> str:
    """When a side was measured, and how its run ended."""
    runs = [source.file.run for source in side.sources]
    first, last = (
        time.replace("T", " ").replace("Z", " UTC") for time in (runs[0].started_at, runs[-1].started_at)
    )
    states = sorted({run.state for run in runs})
    words = {"running": "not finished", "interrupted": "ended early"}
    ended = ", ".join(words.get(state, state) for state in states)
    when = first if len(runs) == 1 else f"{len(runs)} files, {first} to {last}"
    older = f", {side.superseded} older results of the same cases not used" if side.superseded else ""
    return f"{when}, {ended}{older}"


def left_out(pairing: Pairing) -> list[Row]:
    """The rows that have no part in the geometric mean."""
    return [row for row in pairing.rows if row.ratio is None]
