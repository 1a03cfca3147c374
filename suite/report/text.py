"""Text from outside, made safe to print: no escape sequences, no markup, no lost characters.

Device names, error messages and file names come from drivers, libraries and other people's
files. They reach the screen through `Page`, which shows a control character as its escape, and
as ASCII what the output's encoding cannot hold.
"""

from __future__ import annotations

import itertools
import os
import unicodedata
from collections.abc import Collection, Sequence
from typing import IO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

PIPE_WIDTH = 100
# Cc control, Cf format (also the marks that turn the direction of text), Cs lone surrogates of
# file names that are no UTF-8, Zl and Zp line and paragraph separators.
_UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LEAST_WIDTH = 20
_GAP = "  "

Cell = str | tuple[str, str]
"""A text, or a text and its style."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the command; Rich would end the program with the code of a failed case."""
        raise BrokenPipeError


def make_console(file: IO[str] | None = None, *, stderr: bool = False) -> Console:
    """A console as every verb uses it: the terminal's width, 100 columns in a pipe, no markup."""
    console = _Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def clean(text: str, *, ascii_only: bool = False) -> str:
    """Returns `text` on one line, with every control character as a visible escape."""
    safe = "".join(_escape(char) if unicodedata.category(char) in _UNSAFE else char for char in text)
    return safe.replace("µ", "u").encode("ascii", "backslashreplace").decode() if ascii_only else safe


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


class Page:
    """Prints headings, paragraphs and tables on a console, safely."""

    def __init__(self, console: Console) -> None:
        """Prints on `console`, whose markup and highlighting are not used."""
        self._console = console
        self._ascii = not console.encoding.lower().startswith("utf")

    @property
    def width(self) -> int:
        """Columns of the console."""
        return self._console.width

    def clean(self, text: str) -> str:
        """`clean`, as this console's encoding needs it."""
        return clean(text, ascii_only=self._ascii)

    def heading(self, text: str) -> None:
        """An empty line and a bold one."""
        self._console.print()
        self.line(text, style="bold")

    def line(self, text: str, style: str = "", indent: int = 0, hang: int = 2) -> None:
        """A paragraph, wrapped at words; what follows its first line stands `hang` columns further in."""
        room = max(_LEAST_WIDTH, self.width - indent - hang)
        for number, part in enumerate(_wrap(self.clean(text), room, self.width - indent)):
            self._print(Text(" " * (indent + hang * bool(number)) + part, style=style))

    def pairs(self, pairs: Sequence[tuple[str, str]], indent: int = 2) -> None:
        """Names and their values, one below the other."""
        width = max(cell_len(self.clean(name)) for name, _ in pairs) + len(_GAP)
        for name, value in pairs:
            self.line(f"{self.clean(name):<{width}}{value}", indent=indent, hang=width)

    def block(self, text: str, indent: int) -> None:
        """Several lines as they are, such as a traceback."""
        for part in text.expandtabs(4).splitlines():
            self._print(Text(" " * indent + self.clean(part)))

    def table(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        left: Collection[int] = (0,),
        wraps: int = 0,
        indent: int = 0,
    ) -> None:
        """Columns without lines between them, one of which wraps where the width asks for it.

        Args:
            header: names of the columns.
            rows: as many cells each.
            left: numbers of the columns that are aligned to the left.
            wraps: number of the column that wraps, after spaces and slashes.
            indent: columns to the left of the table.
        """
        cells = [[(name, "bold") for name in header]]
        cells += [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
        cells = [[(self.clean(text), style) for text, style in row] for row in cells]
        widths = [max(cell_len(row[n][0]) for row in cells) for n in range(len(header))]
        others = sum(widths) - widths[wraps] + len(_GAP) * (len(widths) - 1) + indent
        widths[wraps] = min(widths[wraps], max(_LEAST_WIDTH, self.width - others))
        for row in cells:
            for line in _table_lines(row, widths, left):
                self._print(Text(" " * indent) + line)

    def _print(self, text: Text) -> None:
        # soft_wrap: a line that is too long after all is left to the terminal, not cropped.
        self._console.print(text, soft_wrap=True)


def _table_lines(row: Sequence[tuple[str, str]], widths: Sequence[int], left: Collection[int]) -> list[Text]:
    """The lines of one row: cells that are wider than their column go on below."""
    columns = [_wrap(text, width) for (text, _), width in zip(row, widths, strict=True)]
    lines = []
    for parts in itertools.zip_longest(*columns, fillvalue=""):
        line = Text()
        for n, (part, width, (_, style)) in enumerate(zip(parts, widths, row, strict=True)):
            pad = " " * (width - cell_len(part))
            line.append(_GAP if n else "")
            line.append("" if n in left else pad)
            line.append(part, style=style)
            line.append(pad if n in left else "")
        line.rstrip()
        lines.append(line)
    return lines


def _wrap(text: str, width: int, first: int = 0) -> list[str]:
    """Breaks `text` after spaces, else after slashes, and inside a word where it must.

    Args:
        text: without line ends.
        width: columns of a line.
        first: columns of the first line, if it may be wider.
    """
    lines: list[str] = []
    rest, width = width, max(first, width)
    while cell_len(text) > width:
        end = len(text)
        while cell_len(text[:end]) > width:
            end -= 1
        space, slash = text.rfind(" ", 1, end + 1), text.rfind("/", 1, end)
        cut = space if space > 0 else slash + 1 if slash > 0 else max(end, 1)
        lines.append(text[:cut].rstrip(" "))
        text, width = text[cut:].lstrip(" "), rest
    return [*lines, text]
