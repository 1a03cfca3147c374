"""The command line: what it refuses, what it prints, and what it does not import."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from suite.cli import main
from suite.record.schema import to_json
from suite.run.estimate import Rates
from tests.builders import result_file
from tests.run.command import BRIEF, OWN, REPOSITORY, jaxmark, only_result

VERBS = (
    "run",
    "show",
    "validate",
    "list",
    "devices",
    "schema",
    "compare",
    "history",
    "noise",
    "export",
    "import",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_bytes(to_json(result_file()))
    return path


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    seen = capsys.readouterr()
    return code, seen.out, seen.err


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS)])
def test_every_help_has_examples(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    assert "examples:\n  jaxmark" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rum"], "Did you mean run?\nSee: jaxmark --help\n"),
        (["run", "--proceses", "3"], "--proceses. Did you mean --processes?\nSee: jaxmark run --help\n"),
        (["compare", "--metric", "tial", "a", "b"], "Did you mean tail?\nSee: jaxmark compare --help\n"),
        (["export", "a"], "required: --to\nSee: jaxmark export --help\n"),
        ([], "jaxmark VERB --help                more on each, with examples\n"),
    ],
)
def test_a_typo_gets_the_nearest_word_and_where_to_look(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    seen = capsys.readouterr()
    assert (seen.out, seen.err.endswith(said)) == ("", True), seen.err


def test_an_error_names_the_flag_that_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "run", "--budget", "3")[::2] == (
        2,
        "jaxmark: --budget=3: expected a duration with its unit, such as '90s', '10m' or '1h30m', found "
        "the whole number 3.\n",
    )


@pytest.mark.parametrize(
    "arguments", [["--help"], ["show", "run.json"], ["validate", "run.json"], ["list"], ["run", "--dry-run"]]
)
def test_looking_imports_nothing_heavy(arguments: list[str], file: Path) -> None:
    script = """
import sys
from suite.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
heavy = {"jax", "jaxlib", "flax", "optax", "scipy"} & set(sys.modules)
light = {"--help": {"msgspec", "rich", "numpy"}, "show": {"numpy"}}.get(sys.argv[1], set()) & set(sys.modules)
sys.exit(f"imported {heavy | light}" if heavy | light else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=file.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_show_prints_the_table(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "show", str(file))
    assert code == 0
    assert "4.15 ms" in out
    assert called(capsys, "show", str(file), "--format", "tsv")[1].startswith("key\t")
    assert called(capsys, "show", str(file), "--format", "json")[1].lstrip()[0] in "[{"


@pytest.mark.parametrize("data", [b"", b"{", b"\x00\xff\x00", b"[1, 2]", b'{"schema_version": 999}', b"{}"])
def test_show_of_another_file_is_exit_2(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    code, out, err = called(capsys, "show", str(path))
    assert (code, out) == (2, "")
    assert str(path) in err


def test_validate_tells_a_good_file_from_a_bad_one(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "validate", str(file))[0] == 0
    file.write_bytes(file.read_bytes().replace(b'"step_time_ms":4.15', b'"step_time_ms":4.25'))
    code, out, _ = called(capsys, "validate", str(file))
    assert code == 2
    assert "step_time_ms" in out


def test_list_and_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert "linear" in called(capsys, "list")[1]
    assert '"$schema"' in called(capsys, "schema")[1]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "quik"], "Did you mean 'quick'"),
        (["run", "--workload", "linera"], "Did you mean 'linear'"),
        (["run", "quick", "--workload", "linear"], "expected a config or --workload, found both"),
        (["run", "--batch", "8"], "--batch goes with --workload"),
        (["run", "--workload", "linear", "--batch", "8,x"], "--batch: expected a whole number"),
        (["run", "--only", "nothing*"], "matches no case"),
        (["run", "--set", "precison=bf16"], "Did you mean 'precision'"),
        (["run", "--budget", "soon"], "a duration"),
        (["run", "--processes", "0"], "a whole number from 1"),
        (["run", "--resume", "none.json"], "none.json"),
        (["run", "--resume", "none.json", "--processes", "3"], "--processes cannot go with --resume"),
        (["run", "quick", "--resume", "none.json"], "'quick' cannot go with --resume"),
        (["run", "--workload", "none.py:make"], "there is no workload file"),
        (["show", "none.json"], "none.json"),
    ],
)
def test_bad_input_is_exit_2_and_one_message(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = called(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("jaxmark: ")
    assert part in err


def test_flags_are_not_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", "--dry"])
    assert caught.value.code == 2


def test_dry_run_calls_its_figures_estimates(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suite.run.estimate.rates_here", lambda platform: Rates({"fp32": 1e9}, "one GFLOP/s"))
    flags = ["run", "--dry-run", "--workload", "linear", "--preset", "1k", "--precision", "fp32,bf16"]
    code, out, _ = called(capsys, *flags, "--processes", "2", "--set", "seed=3")
    assert code == 0
    # 0.064 s a step: 7 s, 8 single steps, a warm-up of 1 s, 20 blocks of it, no latency pass.
    assert "linear/1k/infer/fp32/b32/unroll/v2          2                   9.8" in out
    assert "linear/1k/infer/bf16/b32/unroll/v2          2                   n/a" in out
    assert "estimate" in out
    assert "one GFLOP/s" in out
    assert "Nothing was run" in out


def test_a_long_run_asks_for_yes_before_anything_runs(tmp_path: Path) -> None:
    code, out, err = jaxmark(tmp_path, "run", "standard", "--platform", "cpu")
    assert (code, out) == (2, "")
    assert "add --yes" in err
    assert "an estimate" in err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        (["--require", "gpu"], "--require gpu: found cpu"),
        (["--platform", "cuda"], "cuda"),
        (["--machine", "no spaces"], "--machine"),
    ],
)
def test_what_is_not_here_is_exit_2_before_anything_runs(flags: list[str], part: str, tmp_path: Path) -> None:
    code, out, err = jaxmark(tmp_path, "run", "smoke", *flags)
    assert (code, out) == (2, "")
    assert part in err
    assert not (tmp_path / "results").exists()


def test_an_own_workload_of_another_kind_is_exit_2(tmp_path: Path) -> None:
    code, _, err = jaxmark(tmp_path, "run", "--workload", f"{OWN / 'tiny.py'}:wrong_type")
    assert code == 2
    assert "is int; expected a suite.Workload" in err
    code, _, err = jaxmark(tmp_path, "run", "--workload", f"{OWN / 'tiny.py'}:goood")
    assert code == 2
    assert "Did you mean 'good'" in err


def test_a_closed_pipe_is_no_error(file: Path) -> None:
    command = f"{sys.executable} -m suite list --format json | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


def piped(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and standard error of `jaxmark` in a shell command, where it is called "$@"."""
    variables = dict(os.environ) | {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        ["bash", "-c", command, "jaxmark", sys.executable, "-m", "suite"],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr


def test_output_that_nobody_reads_to_its_end_ends_the_command_quietly(tmp_path: Path) -> None:
    # The reader has gone before the first word is written.
    code, err = piped('( sleep 1; "$@" list; echo $? >code ) | true; cat code >&2', tmp_path)
    assert (code, err) == (0, "141\n")


def test_output_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    assert piped('"$@" list >&-', tmp_path) == (0, "")
    if Path("/dev/full").exists():
        for verb in ("list", "schema"):
            code, err = piped(f'"$@" {verb} >/dev/full', tmp_path)
            assert (code, err) == (2, "jaxmark: cannot write the output: No space left on device.\n")


def test_a_run_that_nobody_reads_keeps_what_it_has_and_says_how_to_go_on(tmp_path: Path) -> None:
    flags = " ".join(["--workload linear --batch 8 --processes 3", *BRIEF])
    code, err = piped(f'set -o pipefail; "$@" run {flags} | head -1 >/dev/null', tmp_path)
    assert code == 141
    assert "of 3 processes a case. The rest:" in err
    (path,) = re.findall(r"--resume (\S+)", err)
    code, _, _ = jaxmark(tmp_path, "run", "--resume", path)
    assert code == 0
    assert len(only_result(tmp_path / "results")[1].results[0].processes) == 3


def test_names_that_the_output_cannot_hold_are_escapes(tmp_path: Path) -> None:
    folder = tmp_path / "mäßig schnell"
    folder.mkdir()
    (folder / "löwe.py").write_text((OWN / "tiny.py").read_text())
    flags = ["--workload", "löwe.py:good", "--processes", "1", *BRIEF]
    code, out, _ = jaxmark(folder, "run", *flags, variables={"PYTHONIOENCODING": "ascii"})
    assert code == 0
    assert r"l\xf6we-good on " in out
    assert only_result(folder / "results")[1].results[0].case.workload == "löwe:good"
