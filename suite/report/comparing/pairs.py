"""What is said below the verdicts of interleaved pairs."""

from __future__ import annotations

from suite.analysis.compare import Comparison
from suite.analysis.looks import LOOKS
from suite.analysis.verdict import FAMILY_ERROR


def paired_legend(comparison: Comparison) -> list[str]:
    """What the columns mean, and how a case gets its verdict."""
    count = comparison.verdicts
    cases = f" and all {count} cases" if count > 1 else ""
    looks = f"{', '.join(map(str, LOOKS[:-1]))} and {LOOKS[-1]}"
    texts = [
        f"Change: median of the Walsh averages of the pairs' log ratios. Interval: signed-rank, of "
        f"{comparison.level:.2%} or more, so that those of all {len(LOOKS)} looks{cases} hold at once in "
        f"{1 - FAMILY_ERROR:.0%} of comparisons.",
        f"A verdict is given after {looks} pairs only; a case that has one is measured no further.",
        "Regressed or improved: the whole interval is beyond the margin, which is --threshold; equivalent: "
        "wholly within it.",
    ]
    rows = [row for pairing in comparison.pairings for row in pairing.rows]
    needs = [row.verdict for row in rows if row.verdict and row.verdict.outcome == "inconclusive"]
    if needs:
        texts.append(
            f"needs N: so many pairs would settle it, were they like these. Beyond {LOOKS[-1]}, a quieter "
            "machine, longer blocks (--set block_seconds=5) or a larger --threshold would."
        )
    if any(row.state == "not_a_verdict" for row in rows):
        texts.append(
            "not a verdict: it ended between two looks. The interval is that of one more look, which nobody "
            "allowed for: do not act on it."
        )
    return texts
