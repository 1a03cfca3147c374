"""`jaxmark compare` as text of 100 columns: verdicts on one machine, then other machines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from suite.analysis.compare import Comparison, Pairing, Row, side_letters
from suite.analysis.metrics import NAMES
from suite.analysis.sides import Side
from suite.analysis.verdict import FAMILY_ERROR
from suite.record.machine import UNSAVED_PREFIX
from suite.report import units
from suite.report.comparing import words
from suite.report.comparing.hardware import show_hardware
from suite.report.comparing.pairs import paired_legend
from suite.report.show import device_name
from suite.report.text import Cell, Page

STYLES = {"regressed": "red", "improved": "green", "equivalent": "", "inconclusive": "yellow"}
_HANG = len("A  base  ")


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Prints a comparison.

    Args:
        comparison: as `suite.analysis.compare.compare` made it.
        console: where to; see `suite.report.text.make_console`.
    """
    page = Page(console)
    names = words.case_names(comparison)
    letters = side_letters(comparison)
    same = [p for p in comparison.pairings if p.same_machine]
    others = [p for p in comparison.pairings if not p.same_machine]
    page.line(f"Comparing {NAMES[comparison.metric]}", style="bold")
    for number, (letter, side) in enumerate(letters):
        _side(page, letter, "base" if number == 0 else "new ", side)
    letter_of = {id(side): letter for letter, side in letters}
    for pairing in same:
        _verdicts(page, comparison, pairing, letter_of[id(pairing.new)], names)
    if same:
        page.heading("How to read it")
        for text in verdict_legend(comparison, same):
            page.line(text, indent=2)
    if others:
        show_hardware(page, comparison, others, letter_of, names)
    if comparison.skipped:
        page.heading("Skipped files")
        for reason in comparison.skipped:
            page.line(reason, style="yellow", indent=2)


def _side(page: Page, letter: str, role: str, side: Side) -> None:
    machine = side.environment.machine
    page.line(f"{letter}  {role}  {device_name(side.environment)}, machine {machine.machine_id}", hang=_HANG)
    page.line(f"{side.name}, {words.moment(side)}", indent=_HANG, hang=2)
    if machine.machine_id.startswith(UNSAVED_PREFIX):
        page.line(
            "the id of this machine could not be kept, so each run on it counts as another machine; name it "
            "with --machine NAME",
            style="yellow",
            indent=_HANG,
        )


def _verdicts(
    page: Page, comparison: Comparison, pairing: Pairing, letter: str, names: dict[str, str]
) -> None:
    how = "in interleaved pairs" if comparison.paired else "on one machine"
    page.heading(f"{letter} against A, {how}")
    differences(page, pairing)
    page.line("")
    header = words.header(comparison, letter)
    rows = [_cells(row, comparison, names) for row in pairing.rows]
    page.table(header, rows, left=(0, len(header) - 1))
    _summary(page, pairing, letter)
    gaps(page, pairing, names)
    warnings(page, pairing.rows, names)


def differences(page: Page, pairing: Pairing) -> None:
    """Every field of the software that differs."""
    if not pairing.differences:
        page.line("software: every recorded field is the same", indent=2)
    for difference in pairing.differences:
        page.line(f"{difference.field}: {difference.base} -> {difference.new}", indent=2)


def _cells(row: Row, comparison: Comparison, names: dict[str, str]) -> list[Cell]:
    before = words.figure(row.base_figures, comparison.metric)
    after = words.figure(row.new_figures, comparison.metric)
    pairs = [str(row.pairs or "-")] if comparison.paired else []
    if row.ratio is None or row.verdict is None:
        change = words.change(row.live) if row.live is not None else "-"
        return [names[row.key], before, after, change, *pairs, "-", (words.gap(row), _gap_style(row))]
    said = words.verdict(row.verdict) + ("" if not row.notes else " !")
    style = STYLES[row.verdict.outcome]
    return [
        names[row.key],
        before,
        after,
        words.change(row.ratio),
        *pairs,
        words.margin(row.verdict),
        (said, style),
    ]


def _gap_style(row: Row) -> str:
    return "yellow" if row.state in ("added", "no_figure", "not_a_verdict") else "red"


def _summary(page: Page, pairing: Pairing, letter: str) -> None:
    outcomes = [row.verdict.outcome if row.verdict else words.gap(row) for row in pairing.rows]
    counts = ", ".join(f"{outcomes.count(name)} {name}" for name in dict.fromkeys(outcomes))
    page.line("")
    page.line(f"{letter} against A: {counts}.")
    score = pairing.score
    if score is not None:
        out = words.left_out(pairing)
        rest = f"; left out: {len(out)}, listed below" if out else ""
        page.line(
            f"Geometric mean of {letter} over A: {units.significant(score.ratio, 4)} "
            f"({_cases(score.cases)}{rest})."
        )


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def gaps(page: Page, pairing: Pairing, names: dict[str, str]) -> None:
    """The rows that were not compared, and why."""
    out = words.left_out(pairing)
    if out:
        page.heading("Left out")
    for row in out:
        page.line(f"{names[row.key]}: {words.gap(row)}: {row.reason}", indent=2)


def warnings(page: Page, rows: Sequence[Row], names: dict[str, str]) -> None:
    """What weakens a verdict, with the verdict that it weakens."""
    concerned = [row for row in rows if row.notes]
    if concerned:
        page.heading("Warnings (!)")
    for row in concerned:
        said = f": {words.verdict(row.verdict)}, but" if row.verdict else ""
        page.line(f"{names[row.key]}{said}", indent=2)
        for note in row.notes:
            page.line(f"- {note.message}", indent=4)


def verdict_legend(comparison: Comparison, pairings: Sequence[Pairing]) -> list[str]:
    """What the columns mean, and where the margins come from."""
    if comparison.paired:
        return paired_legend(comparison)
    verdicts = [row for pairing in pairings for row in pairing.rows if row.verdict is not None]
    count = len(verdicts)
    together = f", so that all {count} hold at once in {1 - FAMILY_ERROR:.0%} of comparisons"
    texts = [
        f"Change: Hodges-Lehmann over processes, each of which counts once. Interval: of "
        f"{comparison.level:.2%} or more{together if count > 1 else ''}.",
        "Regressed or improved: the whole interval is beyond the margin; equivalent: wholly within it.",
    ]
    sources = {row.verdict.margin.source for row in verdicts if row.verdict}
    if "assumed" in sources:
        texts.append(
            "* assumed: no noise floor is known for this case on this machine. `jaxmark noise` finds it "
            "from several whole runs."
        )
    if "measured" in sources:
        runs = [
            row.verdict.margin.runs
            for row in verdicts
            if row.verdict and row.verdict.margin.source == "measured"
        ]
        known = sorted({count for count in runs if count is not None})
        texts.append(
            f"+ measured: the noise floor between whole runs here, from {_range(known)} runs, for "
            f"{_cases(len(verdicts))} judged together."
        )
    unsettled = [row.verdict for row in verdicts if row.verdict and row.verdict.outcome == "inconclusive"]
    if not all(verdict.within_noise for verdict in unsettled):
        texts.append("needs N: so many processes a side would settle it, were they like these.")
    if any(verdict.within_noise for verdict in unsettled):
        texts.append(
            "within noise: whole runs differ as much here by themselves. More processes would not settle it; "
            "a quieter machine would."
        )
    return texts


def _range(counts: Sequence[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
