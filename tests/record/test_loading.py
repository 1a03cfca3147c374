"""Files that are not what they should be, each with the message that its reader gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.files import load, problems
from suite.errors import ResultFileError
from tests.builders import document, result_file

WHOLE = json.dumps(document(result_file())).encode()


def write(folder: Path, data: bytes) -> Path:
    path = folder / "result.json"
    path.write_bytes(data)
    return path


def refused(path: Path) -> str:
    """The message of `load`; `validate` says the same."""
    with pytest.raises(ResultFileError) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    return message


def test_a_whole_file_loads_as_it_was_written(tmp_path: Path) -> None:
    assert load(write(tmp_path, WHOLE)) == result_file()


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, WHOLE)
    assert "Did you mean" in refused(tmp_path / "reslt.json")
    assert str(tmp_path / "result.json") in refused(tmp_path / "reslt.json")
    assert "no folder" in refused(tmp_path / "nowhere" / "a.json")


def test_a_folder_names_its_newest_file(tmp_path: Path) -> None:
    assert "no .json file" in refused(tmp_path)
    path = write(tmp_path, WHOLE)
    assert f"newest in it is {path}" in refused(tmp_path)


def test_links_to_nothing_are_no_files_to_look_at(tmp_path: Path) -> None:
    nothing, circle = tmp_path / "nothing.json", tmp_path / "circle.json"
    nothing.symlink_to("nowhere.json")
    circle.symlink_to(circle)
    assert "no .json file" in refused(tmp_path)
    assert "Did you mean" not in refused(nothing)
    path = write(tmp_path, WHOLE)
    assert f"newest in it is {path}" in refused(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x89PNG\r\n\x1a\n\x00", "binary data (byte 0"),
        (b'{"a": "\x00"}', "binary data (a zero byte)"),
        (b"not json", "expected JSON, found something else"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        (b'{"schema_version": 1, "x": NaN}', "expected JSON, found something else"),
        (b"[1, 2]", "JSON that is a list, no object"),
        (b"null", "JSON that is null, no object"),
        (b"1e3", "JSON that is a number, no object"),
        (b'"text"', "JSON that is a string, no object"),
        (b"{}", "its keys: none"),
        (b'{"a": 1, "b": 2}', "JSON without 'schema_version' (its keys: 'a', 'b')"),
        (b'{"machine_info": {}, "benchmarks": [], "version": "5"}', "results of pytest-benchmark"),
        (b'{"context": {}, "benchmarks": []}', "results of google-benchmark"),
        (b'[{"name": "a", "unit": "s", "value": 1}]', "a list for github-action-benchmark"),
        (b'{"lastUpdate": 1, "repoUrl": "u", "entries": {}}', "data of github-action-benchmark"),
        (
            b'{"schema_version": 2, "new": true}',
            "written by a newer jaxmark (schema 2; this one reads up to 1)",
        ),
        (b'{"schema_version": 0}', "expected schema 1 to 1, found 0"),
        (b'{"schema_version": "1"}', "expected a whole number as 'schema_version', found '1'"),
        (b'{"schema_version": true}', "expected a whole number as 'schema_version', found True"),
        (b'{"schema_version": 1}', "missing required field `run`"),
    ],
)
def test_what_it_is_instead(tmp_path: Path, data: bytes, message: str) -> None:
    path = write(tmp_path, data)
    assert message in refused(path)
    (problem,) = problems(path)
    assert message in problem


def test_cut_off_anywhere_it_says_so(tmp_path: Path) -> None:
    for length in [*range(1, len(WHOLE), 97), len(WHOLE) - 1]:
        assert "ends in the middle" in refused(write(tmp_path, WHOLE[:length]))


def first(document: Any) -> Any:
    return document["results"][0]["processes"][0]


def change(path: str, value: Any) -> Callable[[Any], None]:
    """Sets a field of the first process, or of the file for a path that begins with '/'."""

    def apply(document: Any) -> None:
        target = document if path.startswith("/") else first(document)
        *parents, name = path.strip("/").split("/")
        for parent in parents:
            target = target[int(parent)] if isinstance(target, list) else target[parent]
        target[int(name) if isinstance(target, list) else name] = value

    return apply


def twice(document: Any) -> None:
    document["results"].append(document["results"][0])


def same_index(document: Any) -> None:
    document["results"][0]["processes"][1]["index"] = 0


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (change("block_ns/3", 0), "Expected `int` >= 1 - at `$.results[0].processes[0].block_ns[3]`"),
        (
            change("block_ns/3", -5),
            "Expected `int` >= 1 - at `$.results[0].processes[0].block_ns[3]`, found -5.",
        ),
        (
            change("block_ns/3", 1.5),
            "Expected `int`, got `float` - at `$.results[0].processes[0].block_ns[3]`",
        ),
        (change("block_ns", []), "Expected `array` of length >= 1 - at `$.results[0].processes[0].block_ns`"),
        (change("latency_ns", []), "`$.results[0].processes[0].latency_ns`, found []."),
        (change("warmup_ns/0", 0), "`$.results[0].processes[0].warmup_ns[0]`"),
        (change("block_steps", 0), "Expected `int` >= 1 - at `$.results[0].processes[0].block_steps`"),
        (change("duration_s", -1.0), "`$.results[0].processes[0].duration_s`"),
        (change("compile/trace_ns", -1), "`$.results[0].processes[0].compile.trace_ns`"),
        (change("unknown", 1), "unknown field `unknown` - at `$.results[0].processes[0]`"),
        (change("/results/0/status", "fine"), "Invalid enum value 'fine' - at `$.results[0].status`"),
        (change("/run/state", "done"), "Invalid enum value 'done' - at `$.run.state`"),
        (change("warmup_steps", [1]), "warmup_ns has 2 samples, warmup_steps has 1"),
        (change("duration_s", 0.001), "more than duration_s"),
        (change("memory/method", None), "must both be there or both be null"),
        (change("memory/peak_bytes", 0), "Expected `int` >= 1"),
        (change("memory", {"peak_bytes": None, "method": None}), "peak_bytes is null without a reason"),
        (
            change("started_at", "yesterday"),
            "expected a time such as 2026-01-31T12:00:00Z, found 'yesterday'",
        ),
        (change("started_at", "2026-01-31T12:00:00"), "expected a time with its zone"),
        (
            change("/results/0/key", "mlp/other"),
            "results[0].key: expected 'mlp/smoke/train/fp32/b8/unroll/v1'",
        ),
        (change("/results/0/case/batch", 9), "results[0].key: expected 'mlp/smoke/train/fp32/b9/unroll/v1'"),
        (change("/results/0/work/flops", 1), "flops_terms add up to 12000000000, flops is 1"),
        (change("/results/0/work/flops_source", None), "without a flops_source"),
        (change("/results", []), "expected at least one case, found none"),
        (change("/run/finished_at", None), "state 'complete' does not go with finished_at None"),
        (twice, "stands there 2 times, expected once"),
        (same_index, "index 0 stands there 2 times, expected once"),
    ],
)
def test_a_contradiction_is_named_with_its_place(
    tmp_path: Path, broken: Callable[[Any], None], message: str
) -> None:
    content = document(result_file())
    broken(content)
    path = write(tmp_path, json.dumps(content).encode())
    assert message in refused(path)
    assert any(message in problem for problem in problems(path))


def test_many_contradictions_are_counted(tmp_path: Path) -> None:
    content = document(result_file())
    for process in content["results"][0]["processes"]:
        process["started_at"] = "?"
    assert "(and 4 more)" in refused(write(tmp_path, json.dumps(content).encode()))
    assert len(problems(tmp_path / "result.json")) == 7


def test_a_file_of_forecasts_is_valid_or_says_why_not(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"kind": "forecast", "schema_version": 1, "forecasts": []}')
    assert problems(path) == []
    path = write(tmp_path, b'{"kind": "forecast", "schema_version": 1, "forecasts": [3]}')
    (problem,) = problems(path)
    assert "holds no valid forecasts" in problem
