"""Different machines: figures side by side, speed-ups with intervals, and no verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len

from suite.analysis.compare import HARDWARE_LEVEL, Comparison, Pairing
from suite.record.schema import Result
from suite.report import units
from suite.report.comparing import words
from suite.report.comparing.columns import DISPATCH_MS, dispatch_bound, tables
from suite.report.show import METHODS
from suite.report.text import Page

_CASE_WIDTH = 30
_GAP = 2


def show_hardware(
    page: Page,
    comparison: Comparison,
    pairings: Sequence[Pairing],
    letters: Mapping[int, str],
    names: Mapping[str, str],
) -> None:
    """Prints one column for each machine: times, speed-ups, throughput, memory, compile time.

    Args:
        page: where to.
        comparison: the whole.
        pairings: base against the sides of other machines.
        letters: id of a side -> its letter.
        names: case key -> its short name.
    """
    heads = ["A", *(letters[id(pairing.new)] for pairing in pairings)]
    page.heading("On different machines")
    for pairing in pairings:
        for hint in hints(pairing, letters[id(pairing.new)]):
            page.line(hint, style="yellow", indent=2)
    for table in tables(comparison, pairings):
        page.heading(table.title)
        _columns(page, ["case", *heads], [[names[key], *cells] for key, cells in table.rows])
    page.line("")
    for pairing in pairings:
        page.line(score(comparison, pairing, letters[id(pairing.new)], names))
    out = [(letters[id(pairing.new)], row) for pairing in pairings for row in words.left_out(pairing)]
    if out:
        page.heading("Not compared")
    for letter, row in out:
        page.line(f"{names[row.key]}, {letter} against A: {words.gap(row)}: {row.reason}", indent=2)
    page.heading("How to read it")
    for text in explained(comparison, pairings):
        page.line(text, indent=2)


def hints(pairing: Pairing, letter: str) -> Iterator[str]:
    """Why a pair of machines gets less than one might expect."""
    if pairing.alike:
        yield (
            f"{letter} has A's hardware and another machine id: no verdict. Runners that are made anew "
            "each time can share a name: --machine NAME."
        )
    if any((row.reason or "").startswith("device count") for row in pairing.rows):
        yield (
            f"{letter} ran with another number of devices than A: no ratio is given. Let JAX see as many "
            "on both, with CUDA_VISIBLE_DEVICES or TPU_VISIBLE_CHIPS."
        )


def score(comparison: Comparison, pairing: Pairing, letter: str, names: Mapping[str, str]) -> str:
    """The geometric mean over the cases that both have, and the cases that it leaves out."""
    found = pairing.score
    if found is None:
        return f"No case of {letter} can be compared with A."
    out = [names[row.key] for row in words.left_out(pairing)]
    rest = f" Left out: {', '.join(out)}." if out else ""
    count = "1 case" if found.cases == 1 else f"{found.cases} cases"
    what, ratio = "speed-up", 1 / found.ratio
    if comparison.metric == "memory":
        what, ratio = "share", found.ratio
    return f"Geometric mean of {letter} over A, {count}: {what} {units.significant(ratio)}x.{rest}"


def explained(comparison: Comparison, pairings: Sequence[Pairing]) -> Iterator[str]:
    """The legend."""
    yield (
        f"Ratios have intervals of {HARDWARE_LEVEL:.0%} or more, each by itself, over the processes of "
        "these runs: not over machines. Another machine of the same kind can differ by more."
    )
    yield "* the best of a row. '-' not there, n/a not to be had."
    results = list(_results(comparison, pairings))
    if any(dispatch_bound(result) for result in results):
        yield (
            f"? a step under {DISPATCH_MS:.0f} ms: the hosts that start it may be what is compared, not "
            "the chips."
        )
    for method in sorted({m for result in results if (m := result.summary.peak_method) is not None}):
        yield f"{METHODS[method][0]}: {METHODS[method][1]}."
    yield (
        "Peaks have a ratio to A only where both were read by one method; the compiler's accounts only "
        "where both are of one jaxlib, and on a CPU they are lower bounds."
    )


def _results(comparison: Comparison, pairings: Sequence[Pairing]) -> Iterator[Result]:
    for side in (comparison.base, *(pairing.new for pairing in pairings)):
        yield from side.results.values()


def _columns(page: Page, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """One table; or several, one below the other, where the width does not hold all columns."""
    widths = [max(cell_len(row[n]) for row in [header, *rows]) for n in range(len(header))]
    start = 1
    while start < len(header):
        end, used = start, _CASE_WIDTH
        while end < len(header) and (end == start or used + _GAP + widths[end] <= page.width):
            used += _GAP + widths[end]
            end += 1
        if start > 1:
            page.line("")
        chosen = [0, *range(start, end)]
        page.table([header[n] for n in chosen], [[row[n] for n in chosen] for row in rows])
        start = end
