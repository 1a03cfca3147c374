"""Where in a TOML text a table or a key stands, so that an error can name the line.

`tomllib` gives values without positions. This scan only serves messages: where it finds nothing
(inline tables, dotted keys), the message still names the table and the key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-]+)\s*\]\]?")
_LISTED = ("case", "task")  # a config has the one or the other
_KEY = re.compile(r"""\s*(["']?)([A-Za-z0-9_\-]+)\1\s*=""")


@dataclass(frozen=True)
class Place:
    """A table of a config, and perhaps a key in it.

    Attributes:
        table: 'run', 'defaults', 'case', 'learn', 'task', or '' for the top of the file.
        number: which [[case]] or [[task]], from 1; 0 for the other tables.
        key: the key in that table; None for the table itself.
    """

    table: str
    number: int = 0
    key: str | None = None

    def __str__(self) -> str:
        name = f"[[{self.table}]] {self.number}" if self.number else f"[{self.table}]"
        parts = [name] if self.table else []
        if self.key is not None:
            parts.append(f"key {self.key!r}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Text:
    """A source of settings with a name: a file, or the flags of the command line."""

    name: str
    lines: dict[Place, int] = field(default_factory=dict)
    flags: bool = False

    def at(self, place: Place) -> str:
        """'configs/a.toml:12: [[case]] 3, key 'batch'', as far as it is known; or '--batch'."""
        if self.flags:
            return f"--{place.key}" if place.key is not None else self.name
        line = self._line(place)
        head = f"{self.name}:{line}" if line else self.name
        return f"{head}: {place}" if str(place) else head

    def _line(self, place: Place) -> int | None:
        """The line of the key, else of the table that holds it."""
        key = place.key
        while key:
            if line := self.lines.get(Place(place.table, place.number, key)):
                return line
            key = key.rpartition(".")[0]
        return self.lines.get(Place(place.table, place.number))


def find_lines(text: str) -> dict[Place, int]:
    """Maps each table header and each key of a TOML text to its line, from 1."""
    lines: dict[Place, int] = {}
    table, number, prefix = "", 0, ""
    cases, quoted = 0, False
    for line_number, line in enumerate(text.splitlines(), start=1):
        opens = (line.count('"""') + line.count("'''")) % 2 == 1
        inside, quoted = quoted, quoted != opens
        if inside:
            continue
        if header := _HEADER.match(line):
            table, _, prefix = header[2].partition(".")
            cases += header[1] == "[["
            number = cases if table in _LISTED else 0
            lines.setdefault(Place(table, number, prefix or None), line_number)
        elif key := _KEY.match(line):
            name = f"{prefix}.{key[2]}" if prefix else key[2]
            lines.setdefault(Place(table, number, name), line_number)
    return lines
