"""`jaxmark portability`: which case compiles for which chip, in how much memory."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import Console

from suite.forecast.known import Problem, solved
from suite.record.forecast import Forecast
from suite.report import units
from suite.report.rows import to_json
from suite.report.text import Cell, Page

_WORDS = {"ok": "compiles", "does_not_fit": "does not fit", "timeout": "timed out"}
_STYLES = {"ok": "green", "does_not_fit": "yellow"}


def show_portability(answers: Sequence[Forecast], problems: Sequence[Problem], console: Console) -> None:
    """Prints a table for each chip, then what was refused and why.

    Args:
        answers: at least one.
        problems: faults of the compilers that are known.
        console: where to.
    """
    page = Page(console)
    for target in dict.fromkeys(answer.target for answer in answers):
        _target(page, [answer for answer in answers if answer.target == target])
    page.heading("How to read it")
    page.line(
        "Compiled for chips that are not here; nothing was run. Memory is the compiler's total for one JAX "
        "device: arguments, outputs and temporaries, less what is updated in place. Seconds are those of "
        "tracing and compiling, when it was compiled.",
        indent=2,
    )
    versions = next((answer.versions for answer in answers if answer.versions), {})
    page.line(", ".join(f"{name} {version}" for name, version in versions.items()), indent=2)
    _known(page, answers, problems)
    page.line(summary(answers), style="bold")


def summary(answers: Sequence[Forecast]) -> str:
    """'27 of 28 compile and fit; does not fit: 1.'."""
    counts: dict[str, int] = {}
    for answer in answers:
        word = _WORDS.get(answer.status, answer.status)
        counts[word] = counts.get(word, 0) + 1
    good = counts.pop("compiles", 0)
    rest = ", ".join(f"{word}: {number}" for word, number in counts.items())
    return f"{good} of {len(answers)} compile and fit" + (f"; {rest}." if rest else ".")


def progress(number: int, total: int, answer: Forecast) -> str:
    """One line as an answer comes: '[3/28] t4 gpt/...: compiles, 6.60 MiB, 2.1 s'."""
    return f"[{number}/{total}] {answer.target} {answer.key}: {', '.join(_said(answer))}"


def as_json(answers: Sequence[Forecast]) -> str:
    """Every answer for scripts, with what the compilers said in full."""
    return to_json(msgspec.to_builtins(answers))


def _target(page: Page, answers: Sequence[Forecast]) -> None:
    first = answers[0]
    kind = next((answer.device_kind for answer in answers if answer.device_kind), "not reached")
    page.heading(f"{first.target}: {kind}, {units.size(first.capacity_bytes)} usable")
    page.table(
        ("case", "result", "memory", "compile"),
        [[answer.key, _status(answer), _memory(answer), f"{answer.compile_s:.1f} s"] for answer in answers],
        left=(0, 1),
        indent=2,
    )
    for how in dict.fromkeys(answer.emulated for answer in answers if answer.emulated):
        page.line(f"emulated: {how}.", indent=2)
    for answer in answers:
        if answer.reason:
            page.line(f"{answer.key}: {answer.reason}", style="red", indent=2)


def _known(page: Page, answers: Sequence[Forecast], problems: Sequence[Problem]) -> None:
    for problem in problems:
        if any(problem.explains(answer) for answer in answers):
            why = f"{problem.note} ({problem.issue})"
            page.line(f"known: {problem.case} on {problem.target}: {why}", indent=2)
    for problem in solved(answers, problems):
        page.line(
            f"mended: {problem.case} on {problem.target} is no longer {problem.status}. Remove it from "
            "suite/forecast/known_problems.toml.",
            style="red",
            indent=2,
        )


def _status(answer: Forecast) -> Cell:
    words = _WORDS.get(answer.status, answer.status)
    if answer.status == "ok" and answer.emulated:
        words += ", emulated"
    return words, _STYLES.get(answer.status, "red")


def _memory(answer: Forecast) -> str:
    return "n/a" if answer.memory is None else units.size(answer.memory.total_bytes)


def _said(answer: Forecast) -> list[str]:
    said = [_WORDS.get(answer.status, answer.status)]
    said += [units.size(answer.memory.total_bytes)] if answer.memory else []
    said.append("known from before" if answer.cached else f"{answer.compile_s:.1f} s")
    return said + ([answer.reason] if answer.reason else [])
