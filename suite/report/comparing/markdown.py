"""`jaxmark compare --format markdown`: for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from suite.analysis.compare import Comparison, Pairing, Row, side_letters
from suite.analysis.metrics import NAMES
from suite.report import units
from suite.report.comparing import words
from suite.report.comparing.columns import tables
from suite.report.comparing.hardware import explained, hints, score
from suite.report.comparing.text import verdict_legend
from suite.report.show import device_name
from suite.report.text import clean

# Shortcodes, which GitHub draws and any encoding can hold.
_SIGNS = {
    "regressed": ":red_circle:",
    "improved": ":green_circle:",
    "equivalent": ":white_circle:",
    "inconclusive": ":yellow_circle:",
}
_GAP = ":black_circle:"
# What would end a table's cell, start a tag, a link, a mention or emphasis.
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\|<>[]*_`#@~"})


def as_markdown(comparison: Comparison) -> str:
    """The comparison as GitHub's Markdown; names from outside cannot make markup of their own."""
    return "\n".join(_lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    letters = side_letters(comparison)
    letter_of = {id(side): letter for letter, side in letters}
    names = words.case_names(comparison)
    yield f"### jaxmark: {NAMES[comparison.metric]}"
    yield ""
    for number, (letter, side) in enumerate(letters):
        role = "base" if number == 0 else "new"
        machine = f"{device_name(side.environment)}, machine {side.environment.machine.machine_id}"
        yield f"- **{letter}** ({role}): {text(f'{machine}; {side.name}, {words.moment(side)}')}"
    same = [p for p in comparison.pairings if p.same_machine]
    for pairing in same:
        yield from _verdicts(comparison, pairing, letter_of[id(pairing.new)], names)
    if same:
        yield from _details("How to read it", [text(line) for line in verdict_legend(comparison, same)])
    others = [p for p in comparison.pairings if not p.same_machine]
    if others:
        yield from _hardware(comparison, others, letter_of, names)
    if comparison.skipped:
        yield from _details("Skipped files", [text(reason) for reason in comparison.skipped])


def text(value: str) -> str:
    """A text from outside, in which nothing is markup."""
    return clean(value).translate(_SPECIAL)


def _verdicts(
    comparison: Comparison, pairing: Pairing, letter: str, names: Mapping[str, str]
) -> Iterator[str]:
    yield ""
    how = "in interleaved pairs" if comparison.paired else "on one machine"
    yield f"**{letter} against A, {how}.** {_changes(pairing)}"
    yield ""
    yield from _table(
        words.header(comparison, letter), [_cells(row, comparison, names) for row in pairing.rows]
    )
    found = pairing.score
    if found is not None:
        yield ""
        count = "1 case" if found.cases == 1 else f"{found.cases} cases"
        yield f"Geometric mean of {letter} over A: **{units.significant(found.ratio, 4)}** ({count})."
    yield from _list("Left out:", [_gap(row, names) for row in words.left_out(pairing)])
    warned = [f"{text(names[row.key])}: {text(note.message)}" for row in pairing.rows for note in row.notes]
    yield from _details(f"Warnings (!): {len(warned)}", warned) if warned else ()


def _changes(pairing: Pairing) -> str:
    if not pairing.differences:
        return "Every recorded field of the software is the same."
    said = [text(f"{d.field} {d.base} -> {d.new}") for d in pairing.differences]
    return f"Software: {'; '.join(said)}."


def _cells(row: Row, comparison: Comparison, names: Mapping[str, str]) -> list[str]:
    figures = [words.figure(f, comparison.metric) for f in (row.base_figures, row.new_figures)]
    pairs = [str(row.pairs or "-")] if comparison.paired else []
    if row.ratio is None or row.verdict is None:
        change = words.change(row.live) if row.live is not None else "-"
        return [text(names[row.key]), *figures, change, *pairs, "-", f"{_GAP} {words.gap(row)}"]
    mark = " !" if row.notes else ""
    verdict = f"{_SIGNS[row.verdict.outcome]} {text(words.verdict(row.verdict))}{mark}"
    margin = text(words.margin(row.verdict))
    return [text(names[row.key]), *figures, words.change(row.ratio), *pairs, margin, verdict]


def _gap(row: Row, names: Mapping[str, str]) -> str:
    return f"{text(names[row.key])}: {words.gap(row)}: {text(row.reason or '')}"


def _hardware(
    comparison: Comparison, pairings: Sequence[Pairing], letters: Mapping[int, str], names: Mapping[str, str]
) -> Iterator[str]:
    yield ""
    yield "**On different machines**"
    for pairing in pairings:
        yield from _list("", [text(hint) for hint in hints(pairing, letters[id(pairing.new)])])
    heads = ["case", "A", *(letters[id(pairing.new)] for pairing in pairings)]
    for table in tables(comparison, pairings):
        yield ""
        yield f"{table.title}:"
        yield ""
        yield from _table(heads, [[text(names[key]), *map(text, cells)] for key, cells in table.rows])
    yield ""
    for pairing in pairings:
        yield text(score(comparison, pairing, letters[id(pairing.new)], names))
        yield from _list("Not compared:", [_gap(row, names) for row in words.left_out(pairing)])
    yield from _details("How to read it", [text(line) for line in explained(comparison, pairings)])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield ""
        if title:
            yield title
            yield ""
        yield from (f"- {item}" for item in items)


def _details(title: str, items: Sequence[str]) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from (f"- {item}" for item in items)
    yield ""
    yield "</details>"
