"""What scripts get."""

from __future__ import annotations

import csv
import io
import json

import pytest

from suite.errors import ConfigError
from suite.report.rows import as_json, as_tsv, labels, select, to_tsv
from tests.builders import case, header, result_file
from tests.report.runs import GPT, OWN, mixed_run


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_tsv_has_a_line_for_each_case_and_full_precision() -> None:
    rows = table(as_tsv(mixed_run()))
    assert [row["status"] for row in rows] == ["ok", "crashed", "ok", "oom", "skipped"]
    assert float(rows[0]["step_time_ms"]) == 4.15
    assert rows[0]["items_per_second"] == str(mixed_run().results[0].summary.items_per_second)
    assert rows[0]["peak_bytes"] == "512000000"
    assert rows[4]["step_time_ms"] == ""
    assert rows[3]["reason"] == "RESOURCE_EXHAUSTED: wanted 8.00 GiB (round 1, first call)"
    assert rows[1]["warnings"].split(",")[:2] == ["few_processes", "not_steady"]
    assert {len(row) for row in rows} == {len(rows[0])}


def test_tsv_of_one_case() -> None:
    assert [row["key"] for row in table(as_tsv(mixed_run(), "gpt/*"))] == [GPT.key]


def test_json_is_the_run_and_a_row_for_each_case() -> None:
    document = json.loads(as_json(mixed_run()))
    assert list(document) == ["run", "environment", "results"]
    assert document["run"]["state"] == "interrupted"
    assert document["results"][0]["step_time_ms"] == 4.15
    assert document["results"][4]["step_time_ms"] is None
    assert "block_ns" not in as_json(mixed_run())


def test_a_cell_cannot_break_the_table() -> None:
    text = to_tsv([{"a": "one\ttwo\nthree\x1b", "b": True, "c": {"x": 1}, "d": None}])
    assert text == "a\tb\tc\td\none\\ttwo\\nthree\\x1b\ttrue\tx=1\t"
    assert to_tsv([]) == ""


def test_a_key_is_looked_up_before_it_is_a_pattern() -> None:
    assert [result.key for result in select(mixed_run(), OWN.key)] == [OWN.key]
    assert len(select(mixed_run(), "*/train/*")) == 3
    assert len(select(mixed_run(), None)) == 5
    with pytest.raises(ConfigError):
        select(mixed_run(), "*/serve/*")


def test_labels_are_short_only_while_they_tell_cases_apart() -> None:
    short = labels(mixed_run().results)
    assert short[GPT.key] == "gpt/gpt2-124m/train/bf16/b8/sequence=1024"
    one, two = result_file().results[0], result_file().results[0]
    two.case = case(layers="scan")
    two.key = two.case.key
    assert labels([one, two]) == {one.key: one.key, two.key: two.key}
    assert header().cases[0].key == one.key
