"""The journal, cut off anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import ResultFileError
from suite.record import journal
from suite.record.schema import to_json
from tests.builders import case, failure, header, outcome, process

CASE = case()
OUTCOMES = [outcome(CASE, process(0)), outcome(CASE, failure(1)), outcome(CASE, process(2))]
WHOLE = journal.dump(header(CASE), OUTCOMES)


def test_reading_gives_what_was_written() -> None:
    assert journal.parse(WHOLE, "j") == (header(CASE), OUTCOMES)


def test_cut_off_at_every_byte_all_whole_lines_are_there() -> None:
    head = WHOLE.index(b"\n") + 1
    ends = [n for n in range(len(WHOLE)) if WHOLE[n : n + 1] == b"\n"]
    for length in range(head, len(WHOLE) + 1):
        _, outcomes = journal.parse(WHOLE[:length], "j")
        assert outcomes == OUTCOMES[: sum(end < length for end in ends) - 1]


@pytest.mark.parametrize("length", [0, 1, 100, WHOLE.index(b"\n")])
def test_a_header_cut_off_means_that_nothing_was_measured(length: int) -> None:
    with pytest.raises(ResultFileError, match="Nothing was measured before the run was killed"):
        journal.parse(WHOLE[:length], "j")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"[]\n", "j: expected the first line of a jaxmark journal"),
        (b"\xff\xfe\n", "j: expected the first line of a jaxmark journal"),
        (b'{"schema_version": 2}\n', "written by a newer jaxmark"),
        (b'{"schema_version": 0}\n', "expected schema 1 to 1, found 0"),
        (WHOLE + b"{}\n", "j, line 5: expected one finished process: Object missing required field `key`"),
        (WHOLE + b"\x00\xff\n", "j, line 5"),
        (WHOLE + to_json(outcome(case(batch=99), process(3))) + b"\n", "'.*b99.*' is not a case of this run"),
        (WHOLE + to_json(outcome(CASE, process(3), failure=failure(3))) + b"\n", "found both or neither"),
    ],
)
def test_a_whole_line_that_makes_no_sense_is_an_error(lines: bytes, message: str) -> None:
    with pytest.raises(ResultFileError, match=message):
        journal.parse(lines, "j")


def test_an_existing_journal_is_never_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        journal.Journal.create(path, header(CASE))
    assert path.read_text() == "mine"
