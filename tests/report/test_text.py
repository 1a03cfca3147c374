"""Text made safe to print, and laid out."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from suite.report.text import Page, clean, make_console


def printed(width: int = 40) -> tuple[Page, io.StringIO]:
    file = io.StringIO()
    return Page(Console(file=file, width=width, force_terminal=False)), file


@given(st.text(st.characters()))
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    for char in clean(text):
        assert unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    assert clean(text, ascii_only=True).isascii()
    clean(text).encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.lists(st.text("abc/", min_size=1, max_size=50), min_size=1), st.integers(24, 60))
def test_a_paragraph_keeps_every_word_and_its_width(words: list[str], width: int) -> None:
    page, file = printed(width)
    page.line(" ".join(words))
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "".join(file.getvalue().split()) == "".join(words)


def test_a_table_wraps_one_column_and_keeps_every_cell() -> None:
    page, file = printed(34)
    page.table(
        ("case", "time"), [["resnet/resnet50/train/fp32/b16", "1.00 ms"], ["mlp", ("12.0 ms", "green")]]
    )
    assert file.getvalue() == (
        "case                          time\n"
        "resnet/resnet50/train/     1.00 ms\n"
        "fp32/b16\n"
        "mlp                        12.0 ms\n"
    )


def test_wide_characters_take_two_columns() -> None:
    page, file = printed()
    page.table(("a", "b"), [["芯片", "1"], ["x", "2"]])
    assert file.getvalue() == "a     b\n芯片  1\nx     2\n"


def test_markup_and_emoji_codes_stand_as_they_are() -> None:
    page, file = printed()
    page.line("[red]x[/red] :rocket: [/]")
    assert file.getvalue() == "[red]x[/red] :rocket: [/]\n"


def test_a_traceback_keeps_its_lines() -> None:
    page, file = printed(20)
    page.block("Traceback:\n\tFile 'a name longer than twenty columns'\n\x1b[2J", indent=2)
    assert file.getvalue() == "  Traceback:\n      File 'a name longer than twenty columns'\n  \\x1b[2J\n"


def test_a_pipe_is_a_hundred_columns_wide_unless_columns_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console(io.StringIO()).width == 100
    monkeypatch.setenv("COLUMNS", "72")
    assert make_console(io.StringIO()).width == 72
