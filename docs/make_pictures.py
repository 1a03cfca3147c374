"""Draws the README's picture from the published result: `.venv/bin/python docs/make_pictures.py`."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

import suite
from suite.report.show import show

ROOT = Path(__file__).resolve().parents[1]
RESULT = next((ROOT / "results/published").rglob("*-quick-*.json"))
WIDTH = 112


def main() -> None:
    """Writes docs/show.svg: what `jaxmark show` prints in a terminal, as it is."""
    console = Console(
        file=io.StringIO(),
        record=True,
        width=WIDTH,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=True,
    )
    show(suite.load(RESULT), console)
    picture = console.export_svg(title="jaxmark show")
    # Rich names a font to be fetched; any monospaced one does, and a page fetches nothing.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    (ROOT / "docs/show.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
