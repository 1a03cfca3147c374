"""`show` against exact texts. To accept a change, look at the difference and run with ACCEPT=1."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from suite.errors import ConfigError
from suite.record.schema import Note, ResultFile
from suite.report.show import show, show_text
from suite.report.text import make_console
from tests.builders import result_file
from tests.report.runs import BIG, GPT, mixed_run

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("ACCEPT"):
        path.write_text(text)
    assert text == path.read_text()


def test_a_complete_run() -> None:
    check("complete.txt", show_text(result_file()))


def test_a_run_with_every_kind_of_gap() -> None:
    check("mixed.txt", show_text(mixed_run()))


def test_everything_about_a_case() -> None:
    check("case-gpt.txt", show_text(mixed_run(), GPT.key))
    check("case-own.txt", show_text(mixed_run(), "net:*"))


def test_a_case_that_never_ran() -> None:
    text = show_text(mixed_run(), BIG.key)
    assert "oom: RESOURCE_EXHAUSTED: wanted 8.00 GiB (round 1, first call)" in text
    assert "RESOURCE_EXHAUSTED: wanted 8.00 GiB\\nmore lines" in text, "the failure itself is given whole"
    assert "Processes" not in text


@pytest.mark.parametrize("file", [result_file(), mixed_run()])
def test_it_fits_a_hundred_columns_and_leaves_no_spaces_at_the_end(file: ResultFile) -> None:
    lines = show_text(file).splitlines()
    assert max(map(len, lines)) <= 100
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_pipe_gets_no_colour_and_nothing_outside_ascii_unless_a_name_has_it() -> None:
    file = io.StringIO()
    show(mixed_run(), make_console(file))
    assert "\x1b" not in file.getvalue()
    assert file.getvalue().replace("µ", "u").isascii()
    assert file.getvalue() == show_text(mixed_run())


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system="standard", no_color=False)
    show(mixed_run(), console)
    assert "\x1b[32mok" in file.getvalue()
    assert "\x1b[31mcrashed" in file.getvalue()


def test_an_encoding_that_is_not_utf_8_gets_ascii() -> None:
    result = mixed_run()
    result.environment.machine.cpu_model = "Prozessor™"
    raw = io.BytesIO()
    console = make_console(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    show(result, console)
    text = raw.getvalue().decode("ascii")
    assert "Prozessor\\u2122" in text
    assert "12.3 us" in text


def test_what_comes_from_outside_cannot_steer_the_terminal() -> None:
    result = mixed_run()
    result.environment.machine.cpu_model = "[bold]evil[/] \x1b]0;title\x07\u202e:smile:"
    result.environment.warnings = [Note(code="x", message="[link=http://a]b[/link]\r\n\x9b2J")]
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    show(result, console)
    show(result, console, "*")
    file = console.file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()
    assert "[bold]evil[/] \\x1b]0;title\\x07\\u202e:smile:" in text
    assert "[link=http://a]b[/link]\\r\\n\\x9b2J" in text
    assert not {char for char in text if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160}


def test_a_warning_of_many_cases_says_what_it_means_once() -> None:
    result = mixed_run()
    for one, spread in zip(result.results[:3], (20, 30, 30), strict=True):
        one.warnings = [
            Note(code="spread", message=f"{spread}% apart; other programs do that"),
            Note(code="same", message="the same for these"),
            Note(code="differs", message=f"means; {'a' if spread == 20 else 'b'}"),
        ]
    text = show_text(result)
    assert text[text.index("Warnings") : text.index("Not available")] == (
        "Warnings\n"
        "  mlp/smoke/train/fp32/b8, gpt/gpt2-124m/train/bf16/b8/sequence=1024, "
        "net:tiny/own/own/own/b-/call:\n"
        "    the same for these\n"
        "  mlp/smoke/train/fp32/b8: means; a\n"
        "  gpt/gpt2-124m/train/bf16/b8/sequence=1024, net:tiny/own/own/own/b-/call: means; b\n"
        "  spread: other programs do that\n"
        "    mlp/smoke/train/fp32/b8: 20% apart\n"
        "    gpt/gpt2-124m/train/bf16/b8/sequence=1024, net:tiny/own/own/own/b-/call: 30% apart\n"
        "\n"
    )


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_no_figure_is_lost_at_any_width(width: int) -> None:
    file = io.StringIO()
    show(mixed_run(), Console(file=file, width=width, force_terminal=False))
    for figure in ("4.15 ms (4.00-4.30)", "881 ms", "12.3 µs", "488 MiB rss", "1.00 s", "skipped"):
        assert figure in file.getvalue()


def test_a_case_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(
        ConfigError, match=r"Did you mean 'gpt/gpt2-124m/train/bf16/b8/scan/v1/sequence=1024'"
    ):
        show_text(mixed_run(), "gpt/gpt2-124m/train/bf16/b9/scan/v1/sequence=1024")
    with pytest.raises(ConfigError, match=r"Known: gpt/"):
        show_text(mixed_run(), "zzz*")
