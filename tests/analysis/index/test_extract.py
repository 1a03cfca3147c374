"""The index's quick way to a file's figures gives what the ordinary way gives."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.analysis.files import load
from suite.analysis.index.extract import extract, figures_of, row_of
from suite.analysis.metrics import METRICS, figures
from suite.analysis.summary import fold
from suite.errors import ResultFileError
from suite.record.schema import Compile, Memory, Process, to_json
from suite.record.store import Store
from tests.builders import STEPS_MS, case, document, failure, header, memory, outcome, process, result_file
from tests.sides import run_of

SAMPLES = st.lists(st.integers(1, 10**12), min_size=1, max_size=45)


@st.composite
def processes(draw: st.DrawFn) -> list[Process]:
    made = []
    for index in range(draw(st.integers(0, 4))):
        times = st.none() | st.integers(0, 10**9)
        compiled = Compile(
            trace_ns=draw(times), lower_ns=draw(times), compile_ns=draw(times), first_call_ns=1,
            cache=draw(st.sampled_from(["cold", "cached", "call"])),
        )  # fmt: skip
        read = Memory(reason="no") if draw(st.booleans()) else memory(draw(st.integers(1, 2**40)))
        if read.method and draw(st.booleans()):
            read.method = "host_rss_lifetime"
        steps = draw(st.integers(1, 3))
        latency = draw(st.none() | SAMPLES)
        made.append(
            process(
                index,
                block_steps=steps,
                block_ns=draw(SAMPLES),
                latency_ns=latency,
                compile=compiled,
                memory=read,
            )
        )
    return made


@given(processes())
def test_its_figures_are_those_of_compare(made: list[Process]) -> None:
    result = run_of([(case(), made)]).results[0]
    found, method = figures_of(made)
    for metric in METRICS:
        expected = figures(result, metric)
        assert [value for value in found[metric] if value is not None] == list(expected.values), metric
        assert len(found[metric]) == len(made)
        if metric == "memory":
            assert method == expected.method


def test_the_quick_way_and_the_ordinary_one_agree(tmp_path: Path) -> None:
    own = case("mine:make", preset="own", mode="own", precision="own", layers="own", batch=None)
    head = header(case(), own, case(batch=16))
    head.sources = {own.key: "mine.py:make"}
    outcomes = [outcome(case(), process(n, ms)) for n, ms in enumerate(STEPS_MS)]
    outcomes += [outcome(own, process(0), source_sha256="ab" * 32), outcome(case(batch=16), failure())]
    path = tmp_path / "a.json"
    path.write_bytes(to_json(fold(head, outcomes, "complete", "2026-01-31T12:10:00Z")))
    row = extract(path)
    assert row == row_of(load(path))
    assert json.loads(row.software)["code of mine.py:make"] == "ab" * 6
    assert json.loads(row.outcomes) == [["ok", "host_rss"], ["ok", "host_rss"], ["crashed", None]]
    steps = array("d", row.medians["step_time"])
    assert steps[0] == 4_150_000
    assert math.isnan(steps[2])
    assert msgspec.msgpack.decode(row.processes)[0]["step_time"] == pytest.approx(
        [ms * 1e6 for ms in STEPS_MS]
    )


def put(value: Any, *path: str | int) -> Callable[[Any], None]:
    def apply(content: Any) -> None:
        for part in path[:-1]:
            content = content[part]
        content[path[-1]] = value

    return apply


def twice(content: Any) -> None:
    content["results"].append(content["results"][0])


@pytest.mark.parametrize(
    "broken",
    [
        put(0, "results", 0, "processes", 0, "block_ns", 3),
        put(-5, "results", 0, "processes", 0, "latency_ns", 3),
        put([], "results", 0, "processes", 0, "block_ns"),
        put(16, "results", 0, "case", "batch"),
        put("mlp/other", "results", 0, "key"),
        put([], "results"),
        put("yesterday", "run", "started_at"),
        put("2026-01-31T12:00:00", "run", "started_at"),
        put(2, "schema_version"),
        put(0, "schema_version"),
        twice,
    ],
)
def test_what_it_refuses_it_refuses_as_load_does(tmp_path: Path, broken: Callable[[Any], None]) -> None:
    content = document(result_file())
    broken(content)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ResultFileError) as ordinary:
        load(path)
    with pytest.raises(ResultFileError) as quick:
        extract(path)
    assert str(quick.value) == str(ordinary.value)


def test_an_unfinished_run_is_read_with_its_journal(tmp_path: Path) -> None:
    store = Store.create(tmp_path, header(), fold)
    store.append(outcome(case(), process(0)))
    store.write()
    store.append(outcome(case(), process(1)))
    store.close()
    journal = store.path.with_suffix(".journal")
    assert msgspec.msgpack.decode(extract(journal).processes)[0]["index"] == [0, 1]
