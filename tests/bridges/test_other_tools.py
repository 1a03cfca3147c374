"""JSON that is someone else's is named, and never half read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.files import load
from suite.bridges.exporting import FORMATS
from suite.cli import main
from suite.errors import ResultFileError
from tests.builders import STEPS_MS, case
from tests.sides import run_file

DOCUMENTS: list[tuple[str, Any]] = [
    ("results of pytest-benchmark", {"machine_info": {}, "commit_info": {}, "benchmarks": []}),
    ("results of google-benchmark", {"context": {}, "benchmarks": []}),
    ("results of pyperf", {"benchmarks": [{"runs": []}], "metadata": {}, "version": "1.0"}),
    ("results of asv", {"commit_hash": "a", "results": {}, "params": {}, "version": 2}),
    ("results of hyperfine", {"results": [{"command": "sleep 1", "times": [1.0], "mean": 1.0}]}),
    ("data of github-action-benchmark", {"lastUpdate": 1, "repoUrl": "", "entries": {}}),
    ("a list for github-action-benchmark", [{"name": "a", "unit": "ms", "value": 1}]),
    ("metrics for Bencher", {"a": {"latency": {"value": 1.0}}}),
]


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
def test_each_is_named(tmp_path: Path, name: str, document: Any) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ResultFileError, match=f"expected a result file of jaxmark, found {name}"):
        load(path)
    run_file(tmp_path / "runs/a.json", [(case(), STEPS_MS)])
    for verb in (["compare", str(tmp_path / "runs"), str(path)], ["export", "--to", "csv", str(path)]):
        assert main(verb) == 2


@pytest.mark.parametrize("to", sorted(set(FORMATS) - {"csv"}))
def test_our_own_exports_are_named_too(tmp_path: Path, to: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--to", to, run_file(tmp_path / "a.json", [(case(), STEPS_MS)])]) == 0
    (tmp_path / "b.json").write_text(capsys.readouterr().out)
    with pytest.raises(ResultFileError) as caught:
        load(tmp_path / "b.json")
    assert to in str(caught.value).lower()


def test_what_jaxmark_itself_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = (run_file(tmp_path / f"{name}.json", [(case(), STEPS_MS)]) for name in "ab")
    for verb in (["show", a, "--format", "json"], ["compare", a, b, "--format", "json"]):
        assert main(verb) == 0
        (tmp_path / "printed.json").write_text(capsys.readouterr().out)
        with pytest.raises(ResultFileError, match=rf"found what `jaxmark {verb[0]} --format json` printed"):
            load(tmp_path / "printed.json")


def test_the_real_output_of_pytest_benchmark(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(benchmark):\n    benchmark(int)\n")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--benchmark-json=out.json",
            "--benchmark-max-time=0.01",
            "test_it.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        # Beside other tests it would measure nothing.
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")},
    )
    with pytest.raises(ResultFileError, match="found results of pytest-benchmark"):
        load(tmp_path / "out.json")
