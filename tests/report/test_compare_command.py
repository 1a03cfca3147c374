"""`jaxmark compare` as users call it: exit codes, messages, and how little it imports."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.files import load
from suite.cli import main
from suite.cli.compare import parse_threshold
from suite.errors import ConfigError
from suite.record import floors
from suite.record.floors import Floor
from suite.record.migrate import MIGRATIONS
from suite.record.schema import to_json
from tests.builders import STEPS_MS, case, failure, process
from tests.sides import Cases, gpu, run_file, scaled

OTHER = case("gpt", preset="char")


@pytest.fixture(autouse=True)
def _no_floors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def base(tmp_path: Path) -> str:
    return run_file(tmp_path / "base.json", [(case(), STEPS_MS)])


@pytest.mark.parametrize(
    ("cases", "code", "strict"),
    [
        ([(case(), STEPS_MS)], 0, 0),
        ([(case(), scaled(STEPS_MS, 1.5))], 1, 1),
        ([(case(), [failure()])], 1, 1),
        ([(OTHER, STEPS_MS)], 3, 3),
        ([(case(), scaled(STEPS_MS, 1.1))], 0, 4),
        ([(case(), STEPS_MS[:2])], 0, 4),
    ],
)
def test_exit_codes(
    base: str, tmp_path: Path, cases: Cases, code: int, strict: int, capsys: pytest.CaptureFixture[str]
) -> None:
    new = run_file(tmp_path / "new.json", cases)
    assert main(["compare", base, new]) == code
    assert "B against A" in capsys.readouterr().out
    for form in ("json", "markdown", "csv"):
        assert main(["compare", base, new, "--strict", "--format", form]) == strict
    assert capsys.readouterr().err == ""


def test_a_run_where_everything_failed_is_no_baseline(base: str, tmp_path: Path) -> None:
    bad = run_file(tmp_path / "bad.json", [(case(), [failure()])])
    assert main(["compare", bad, base]) == 1


def test_hardware_gives_no_verdict(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = run_file(tmp_path / "new.json", [(case(), scaled(STEPS_MS, 9))], gpu())
    assert main(["compare", base, new, "--strict"]) == 0
    assert "0.111x" in capsys.readouterr().out


def test_the_threshold_and_the_metric(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = run_file(tmp_path / "new.json", [(case(), scaled(STEPS_MS, 1.5))])
    assert main(["compare", base, new, "--threshold", "80%"]) == 0
    assert "80%" in capsys.readouterr().out
    assert main(["compare", base, new, "--metric", "memory"]) == 0
    capsys.readouterr()
    assert main(["compare", base, new, "--metric", "latency", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["metric"] == "latency"


@pytest.mark.parametrize(
    ("text", "fraction"), [("5%", 0.05), ("0.05", 0.05), (" 2.5 % ", 0.025), ("150%", 1.5)]
)
def test_thresholds(text: str, fraction: float) -> None:
    assert parse_threshold(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["", "%", "five", "0", "0%", "-5%", "nan", "nan%", "inf%", "2000%", "1.0"])
def test_thresholds_that_cannot_be(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^--threshold: expected a share such as 5% or 0\.05"):
        parse_threshold(text)


def test_a_threshold_without_its_sign_is_pointed_out() -> None:
    with pytest.raises(ConfigError, match=r"found '5'\. Did you mean 5%\?"):
        parse_threshold("5")


@pytest.mark.parametrize("arguments", [["missing.json"], [], ["."]])
def test_bad_input_exits_with_2(
    base: str,
    tmp_path: Path,
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(["compare", base, *arguments]) == 2
    assert capsys.readouterr().err.startswith("jaxmark: ")
    assert main(["compare", base, base]) == 2
    assert "are the same file" in capsys.readouterr().err


def test_an_encoding_that_holds_ascii_only(tmp_path: Path) -> None:
    strange = case("模型:naïve", preset="own", mode="own")
    a, b = (run_file(tmp_path / f"{name}.json", [(strange, STEPS_MS)]) for name in "ab")
    for form in ("text", "json", "markdown", "csv"):
        done = subprocess.run(
            [sys.executable, "-m", "suite", "compare", a, b, "--format", form],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=True,
        )
        assert b"\\u6a21" in done.stdout, form


SCRIPT = """
import sys, time
began = time.perf_counter()
from suite.cli import main
code = main(["compare", *sys.argv[1:]])
sys.stdout.flush()
modules = sorted({name.partition(".")[0] for name in sys.modules})
print(code, time.perf_counter() - began, *modules, file=sys.stderr)
"""


def test_two_files_of_fifty_cases_without_jax(tmp_path: Path) -> None:
    names = []
    for name, factor in (("a", 1.0), ("b", 1.01)):
        cases = []
        for batch in range(1, 51):
            # As many samples as a real process leaves.
            processes = [
                process(
                    n,
                    ms * factor,
                    block_ns=[round(ms * factor * 1e7) + k % 2 * 997 for k in range(20)],
                    latency_ns=[round(ms * factor * 1.1e6) + k % 3 * 991 for k in range(100)],
                )
                for n, ms in enumerate(STEPS_MS)
            ]
            cases.append((case(batch=batch), processes))
        names.append(run_file(tmp_path / f"{name}.json", cases))
    done = subprocess.run([sys.executable, "-c", SCRIPT, *names], capture_output=True, text=True, check=True)
    code, seconds, *modules = done.stderr.split()
    print(f"comparing two files of 50 cases took {float(seconds):.3f} s, imports included")
    assert code == "0"
    assert done.stdout.count("equivalent\n") == 50
    heavy = {"jax", "jaxlib", "flax", "optax", "numpy", "scipy", "ml_dtypes", "pandas", "matplotlib"}
    assert not heavy & set(modules)


def with_floor(path: str, p95: float, last: str = "2026-01-08T12:00:00Z") -> str:
    """Writes a floor of the case into a file, as the end of a run on a measured machine does."""
    file = load(path)
    file.floors = [
        Floor(
            key=case().key, metric="step_time", runs=20, p95=p95, deviation=p95 / 3,
            first_run_at="2026-01-01T12:00:00Z", last_run_at=last,
        )
    ]  # fmt: skip
    Path(path).write_bytes(to_json(file))
    return path


def margin(base: str, new: str, capsys: pytest.CaptureFixture[str]) -> tuple[float, str]:
    main(["compare", base, new, "--format", "json"])
    (row,) = json.loads(capsys.readouterr().out)["comparisons"][0]["cases"]
    return row["margin"], row["margin_source"]


def test_a_floor_in_the_file_is_used_where_none_is_kept_here(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = run_file(tmp_path / "new.json", [(case(), scaled(STEPS_MS, 1.6))])
    assert margin(base, new, capsys) == (0.10, "assumed")
    with_floor(base, 0.20)
    assert margin(base, new, capsys) == (pytest.approx(math.expm1(0.20), rel=0.5), "measured")
    with_floor(new, 0.30, "2026-01-09T12:00:00Z")
    assert margin(base, new, capsys)[0] >= math.expm1(0.30), "the newer one"
    floors.keep(load(base).environment.machine, load(with_floor(base, 0.07)).floors)
    assert margin(base, new, capsys)[0] < math.expm1(0.20), "what is kept here goes first"


def test_an_older_file_is_migrated_and_a_newer_one_refused(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a made-up version 0, in which a field had another name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def migration(document: dict[str, Any]) -> dict[str, Any]:
        document["run"]["config"] = document["run"].pop("plan")
        return document

    (tmp_path / "old").mkdir()
    old = tmp_path / "old/old.json"
    text = Path(run_file(old, [(case(), STEPS_MS)])).read_text()
    old.write_text(
        text.replace('"schema_version":1', '"schema_version":0').replace('"config":', '"plan":', 1)
    )
    assert main(["compare", base, str(old)]) == 2
    assert "expected schema 1 to 1, found 0" in capsys.readouterr().err
    monkeypatch.setitem(MIGRATIONS, 0, migration)  # type: ignore[call-overload]
    for argument in (old, old.parent):
        assert main(["compare", base, str(argument)]) == 0
    assert main(["history", str(old.parent)]) == 0
    old.write_text(text.replace('"schema_version":1', '"schema_version":2'))
    for arguments in (
        ["compare", base, str(old)],
        ["compare", base, str(old.parent)],
        ["history", str(old.parent)],
    ):
        capsys.readouterr()
        assert main(arguments) == 2
        assert "written by a newer jaxmark (schema 2; this one reads up to 1)" in capsys.readouterr().err


def test_edited_times_are_rejected_whatever_reads_them(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = Path(base).read_text()
    (tmp_path / "edited").mkdir()
    for wrong in ("0", "-40000000"):
        (tmp_path / "edited/e.json").write_text(text.replace("[40000000,", f"[{wrong},"))
        for arguments in (["compare", base], ["history"], ["export", "--to", "csv"], ["show"]):
            for place in ("edited/e.json", "edited")[: 1 if arguments == ["show"] else 2]:
                assert main([*arguments, str(tmp_path / place)]) == 2
                assert "Expected `int` >= 1" in capsys.readouterr().err


def test_a_folder_says_where_summaries_cannot_be_kept(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_file(tmp_path / "runs/new.json", [(case(), STEPS_MS)])
    monkeypatch.setenv("XDG_CACHE_HOME", base)  # a file, in which there can be no folder
    assert main(["compare", base, str(tmp_path / "runs"), "--format", "json"]) == 0
    told = capsys.readouterr()
    assert "jaxmark: summaries cannot be kept in" in told.err
    assert told.err.count("\n") == 1
    assert json.loads(told.out)


KINDS = {
    "forecasts/forecast.json": '{"kind": "forecast", "schema_version": 1, "forecasts": []}',
    "learning.json": '{"kind": "learning", "schema_version": 1, "results": []}',
}


@pytest.mark.parametrize("verb", [["compare", "base.json"], ["history"], ["export", "--to", "csv"]])
def test_forecasts_and_times_to_a_target_in_a_folder_are_named_and_skipped(
    verb: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run_file(Path("base.json"), [(case(), STEPS_MS)])
    run_file(Path("runs/new.json"), [(case(), STEPS_MS)])
    for name, content in KINDS.items():
        (Path("runs") / name).parent.mkdir(exist_ok=True)
        (Path("runs") / name).write_text(content)
    assert main([*verb, "runs"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "runs/forecasts/forecast.json: expected what was measured, found forecasts" in said
    assert "runs/learning.json: expected step times, found times to a target" in said
    for name in KINDS:
        assert main([*verb, f"runs/{name}"]) == 2
        assert "jaxmark: runs/" in capsys.readouterr().err
