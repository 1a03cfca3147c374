"""`jaxmark forecast`: what it prints and how it exits, with a compiler that answers as a test tells it to."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from suite.cli import main
from suite.record.base import to_json
from suite.record.forecast import Bound, Forecast
from suite.record.forecasts import encode
from tests.builders import result_file
from tests.forecast.fakes import interpreter

GIB = 2**30
# 1 GiB of parameters and a quarter of a GiB for each sample; the chip that answers has 16 GiB.
KNOWN = """
batch = job["case"]["batch"]
need = 2**30 + batch * 2**28
parts = dict(parameters=2**30, temporaries=batch * 2**28)
bound = lambda s, c, m: dict(seconds=s, compute_s=c, memory_s=m)
tpu = job["target"].startswith("v")
fits = need <= job_usable(job)
answer(job, status="ok" if fits else "does_not_fit", reason=None if fits else "needs too much",
       needed_bytes=need, parts=parts if fits else {}, work=dict(flops=10, items=batch, item="sample"),
       step_bound=bound(0.002, 0.002, 0.001), program_bound=bound(0.004, 0.001, 0.003),
       compiler_s=0.01 if tpu else None)
""".replace("\n", "\n    ").replace(
    "job_usable(job)", "{'t4': 15300820992, 'v5e': 16911433728}[job['target']]"
)


def forecast(python: Path, *arguments: str) -> int:
    return main(["forecast", "--python", str(python), *arguments])


def test_what_fits_in_how_much_and_how_fast_at_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter(tmp_path, KNOWN)
    assert (
        forecast(python, "mlp", "--preset", "small", "--mode", "train", "--batch", "4", "--target", "t4,v5e")
        == 0
    )
    out, err = capsys.readouterr()
    t4, v5e = out.split("mlp/small on v5e")
    assert "train/fp16/b4/unroll  fits    2.00 GiB  >= 4.00 ms  memory  1.00k samples/s" in t4
    assert "compiler" not in t4
    assert "train/bf16/b4/unroll  fits    2.00 GiB  >= 4.00 ms  memory  1.00k samples/s   10.0 ms" in v5e
    assert "train/bf16/b4/unroll: parameters 1.00 GiB, temporaries 1.00 GiB" in v5e
    assert "Nothing was run." in v5e
    assert len(err.splitlines()) == 2


def test_training_and_inference_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forecast(interpreter(tmp_path, KNOWN), "mlp", "--batch", "4", "--target", "v5e") == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["train/bf16/b4/unroll", "fits"] in lines
    assert ["infer/bf16/b4/unroll", "fits"] in lines


def test_what_is_too_large_is_an_answer_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter(tmp_path, KNOWN)
    assert forecast(python, "mlp", "--mode", "train", "--batch", "999", "--target", "v5e") == 0
    out = capsys.readouterr().out
    assert "train/bf16/b999/unroll  does not fit  251 GiB" in out
    assert "train/bf16/b999/unroll: needs too much" in out


def test_the_largest_batch_is_searched_for_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter(tmp_path, KNOWN)
    assert (
        forecast(python, "mlp", "--mode", "train", "--max-batch", "--target", "t4,v5e", "--format", "tsv")
        == 0
    )
    header, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    found = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    # 14.25 GiB less 1, and 15.75 GiB less 1, in quarters.
    assert (found["t4"]["largest_batch"], found["v5e"]["largest_batch"]) == ("53", "59")
    assert found["t4"]["exact"] == "true"


def test_a_table_is_models_by_chips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "two.toml"
    config.write_text('[[case]]\nworkload = "mlp"\nmode = ["train", "infer"]\nprecision = "bf16"\n')
    assert forecast(interpreter(tmp_path, KNOWN), "--table", str(config), "--target", "t4,v5e") == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["case", "t4", "v5e"] in rows
    assert ["mlp/small/train/bf16/unroll/v2", "53", "59"] in rows
    assert ["mlp/small/infer/bf16/unroll/v2", "53", "59"] in rows
    assert "53 needs 14.2 GiB of 14.2 GiB; the next 14.5 GiB" in out


def test_a_compiler_that_fails_is_a_row_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter(tmp_path, 'answer(job, status="error", reason="INTERNAL: no")')
    assert forecast(python, "mlp", "--mode", "train", "--target", "t4", "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)["forecasts"][0]
    assert (found["status"], found["reason"], found["needed_bytes"]) == ("error", "INTERNAL: no", None)
    assert forecast(python, "mlp", "--mode", "train", "--target", "t4", "--max-batch") == 1
    assert "INTERNAL: no" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected a workload, such as `jaxmark forecast gpt`, --config or --table CONFIG"),
        (["gtp"], "Did you mean 'gpt'?"),
        (["gpt", "--target", "h10"], "Did you mean 'h100'?"),
        (["gpt", "--preset", "124"], "Did you mean '124m'?"),
        (["gpt", "--mesh", "tensor=4"], "expected a mesh such as data=4"),
        (["gpt", "--set", "batch=4"], "expected a parameter, as in --set params.seq=512"),
        (["gpt", "--table", "quick"], "the cases come from a config, and workload as well were given"),
        (["gpt", "--timeout", "soon"], "soon"),
        (["nowhere.py:make"], "there is no workload file"),
    ],
)
def test_bad_input_is_exit_code_2_and_starts_nothing(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forecast(interpreter(tmp_path, "sys.exit(9)"), *arguments) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert not out


def test_elsewhere_than_on_linux_a_message_and_nothing_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert main(["forecast", "gpt", "--target", "v5e"]) == 2
    assert "found Darwin on arm64" in capsys.readouterr().err


def test_forecasts_made_before_are_shown_without_compilers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter(tmp_path, KNOWN)
    assert forecast(python, "mlp", "--batch", "4", "--target", "t4,v5e", "--format", "json") == 0
    kept = tmp_path / "forecasts"
    kept.mkdir()
    (kept / "mlp.json").write_text(capsys.readouterr().out)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    assert main(["forecast", "mlp", "--mode", "train", "--from", str(kept), "--target", "v5e"]) == 0
    out = capsys.readouterr().out
    assert "mlp/small on v5e" in out
    assert "train/bf16/b4/unroll" in out
    assert "infer/" not in out
    assert "t4" not in out
    assert main(["forecast", "gpt", "--from", str(kept)]) == 2
    assert "no forecast in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "found no JSON"),
        ("[1]", "found another kind of file"),
        ('{"kind": "forecast", "schema_version": 2, "forecasts": []}', "A newer jaxmark wrote it"),
        ('{"kind": "forecast", "schema_version": 1, "forecasts": [{}]}', "holds no valid forecasts"),
    ],
)
def test_a_file_that_holds_no_forecasts_is_refused(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text(content)
    assert main(["forecast", "--from", str(tmp_path / "odd.json")]) == 2
    assert said in capsys.readouterr().err


def test_a_run_beside_forecasts_of_its_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = result_file()
    measured = next(result for result in run.results if result.summary.step_time_ms)
    kind = run.environment.machine.device_kind
    bound = Bound(seconds=measured.summary.step_time_ms / 4e3, compute_s=0.0, memory_s=None)
    common = {"key": measured.key, "status": "ok", "capacity_bytes": GIB, "compile_s": 1.0, "versions": {}}
    forecasts = [
        Forecast(target="here", device_kind=kind, needed_bytes=2**20, step_bound=bound, **common),
        Forecast(target="there", device_kind="another chip", program_bound=bound, **common),
        Forecast(target="other", device_kind=kind, **common | {"key": "another/case"}),
    ]
    (tmp_path / "run.json").write_bytes(to_json(run))
    (tmp_path / "known.json").write_text(encode(forecasts))
    arguments = ["show", str(tmp_path / "run.json"), "--forecast", str(tmp_path / "known.json")]
    assert main([*arguments, "--format", "json"]) == 0
    here, there = json.loads(capsys.readouterr().out)
    assert (here["share_of_bound"], here["times_faster_at_most"]) == (pytest.approx(0.25), None)
    assert (there["share_of_bound"], there["times_faster_at_most"]) == (None, pytest.approx(4.0))
    assert main(arguments) == 0
    lines = capsys.readouterr().out.partition("Beside forecasts")[2].splitlines()
    assert any("25%" in line and " here " in line for line in lines)
    assert any("<= 4.00x" in line and " there " in line for line in lines)


def test_forecasts_are_no_result_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "known.json").write_text(encode([]))
    assert main(["show", str(tmp_path / "known.json")]) == 2
    assert "expected what was measured, found forecasts" in capsys.readouterr().err
