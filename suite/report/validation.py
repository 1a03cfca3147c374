"""`jaxmark validate`: a line for each file, and below it what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from suite.analysis.files import problems
from suite.report.text import Page

_SHOWN = 20


def show_validation(paths: Sequence[Path], console: Console) -> bool:
    """Checks each file and prints what was found.

    Returns:
        Whether every file is valid; the command line exits with 2 otherwise.
    """
    page = Page(console)
    valid = True
    for path in paths:
        found = problems(path)
        valid = valid and not found
        page.line(f"{path}: {'ok' if not found else _count(len(found))}", style="red" if found else "green")
        for problem in found[:_SHOWN]:
            page.line(problem, indent=2)
        if len(found) > _SHOWN:
            page.line(f"and {len(found) - _SHOWN} more", indent=2)
    return valid


def _count(number: int) -> str:
    return "1 problem" if number == 1 else f"{number} problems"
