"""Configs: what they mean, and what is said of one that cannot be understood."""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from suite.errors import ConfigError
from suite.spec import config
from suite.spec.config import Config, from_fields, load, select
from suite.spec.settings import MeasureSettings


def written(folder: Path, text: str) -> Config:
    path = folder / "mine.toml"
    path.write_text(text)
    return load(str(path))


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        written(folder, text)
    return str(caught.value)


def keys(found: Config) -> list[str]:
    return [case.key for case in found.cases]


def test_a_config_of_one_line_takes_every_default(tmp_path: Path) -> None:
    found = written(tmp_path, '[[case]]\nworkload = "linear"\n')
    assert keys(found) == ["linear/1k/infer/default/b32/unroll/v2"]
    assert (found.name, found.processes, found.timeout_s, found.budget_s) == ("mine", 7, 600.0, None)
    assert (found.compile_cache, found.settings, found.seed) == ("cold", MeasureSettings(), 0)
    assert found.sha256 == hashlib.sha256((tmp_path / "mine.toml").read_bytes()).hexdigest()


def test_run_settings(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        """
        [run]
        description = "x"
        processes = 3
        timeout = "1h30m"
        budget = "90s"
        compile = "cached"
        warmup_seconds = 2
        block_seconds = 0.5
        seed = 9
        [[case]]
        workload = "linear"
        """,
    )
    assert (found.processes, found.timeout_s, found.budget_s) == (3, 5400.0, 90.0)
    assert (found.compile_cache, found.seed, found.description) == ("cached", 9, "x")
    assert found.settings == MeasureSettings(warmup_seconds=2.0, block_seconds=0.5)


def test_lists_are_a_product_in_order_and_defaults_fill_in(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        """
        [defaults]
        precision = ["fp32", "bf16"]
        [[case]]
        workload = "linear"
        [[case]]
        workload = "mlp"
        batch = [8, 16]
        mode = "train"
        """,
    )
    assert keys(found) == [
        "linear/1k/infer/fp32/b32/unroll/v2",
        "linear/1k/infer/bf16/b32/unroll/v2",
        "mlp/small/train/fp32/b8/unroll/v2",
        "mlp/small/train/fp32/b16/unroll/v2",
        "mlp/small/train/bf16/b8/unroll/v2",
        "mlp/small/train/bf16/b16/unroll/v2",
    ]


def test_params_sweep_and_merge_with_the_defaults(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        """
        [defaults]
        params = { seq = 8 }
        [[case]]
        workload = "gpt"
        mode = "prefill"
        [[case]]
        workload = "gpt"
        mode = "prefill"
        params = { seq = [2, 4] }
        """,
    )
    assert [case.params for case in found.cases] == [{"seq": 8}, {"seq": 2}, {"seq": 4}]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('[[case]]\nworkload = "linear"\nbacth = 8\n', [":3: [[case]] 1, key 'bacth'", "mean 'batch'"]),
        ('[run]\nproceses = 3\n[[case]]\nworkload = "linear"\n', [":2: [run]", "mean 'processes'"]),
        ('[defaults]\nmod = "x"\n[[case]]\nworkload = "linear"\n', [":2: [defaults]", "mean 'mode'"]),
        ('[runs]\n[[case]]\nworkload = "linear"\n', [":1: [runs]", "unknown table", "mean 'run'"]),
        ('processes = 3\n[[case]]\nworkload = "linear"\n', [":1: key 'processes'", "outside every table"]),
        ('[[case]]\nworkload = "linear"\nbatch = "8"\n', [":3:", "a whole number", 'the text "8"']),
        ('[[case]]\nworkload = "linear"\nbatch = true\n', [":3:", "a whole number", "found true"]),
        ('[[case]]\nworkload = "linear"\nbatch = 8.0\n', [":3:", "a whole number", "the number 8.0"]),
        ('[[case]]\nworkload = "linear"\nbatch = 0\n', [":3:", "from 1 to", "the whole number 0"]),
        ('[[case]]\nworkload = "linear"\nbatch = [8, "9"]\n', [":3:", 'the text "9"']),
        ('[[case]]\nworkload = "linear"\nbatch = []\n', [":3:", "the list is empty"]),
        ('[[case]]\nworkload = "linear"\nbatch = [[8]]\n', [":3:", "the list [8]"]),
        ('[[case]]\nworkload = "linear"\npreset = 10\n', [":3:", "text in quotes", "the whole number 10"]),
        ('[[case]]\nworkload = "gpt"\nparams = { seq = [] }\n', [":3:", "'seq'", "the list is empty"]),
        ('[[case]]\nworkload = "gpt"\nparams = 3\n', [":3:", "a table such as"]),
        ('[run]\nprocesses = true\n[[case]]\nworkload = "linear"\n', [":2:", "found true"]),
        ('[run]\nprocesses = [1, 2]\n[[case]]\nworkload = "linear"\n', [":2:", "the list [1, 2]"]),
        ('[run]\ntimeout = 10\n[[case]]\nworkload = "linear"\n', [":2:", "a duration with its unit"]),
        ('[run]\nbudget = "5 parsecs"\n[[case]]\nworkload = "linear"\n', [":2:", "such as '90s'"]),
        ('[run]\ncompile = "warm"\n[[case]]\nworkload = "linear"\n', [":2:", "'cold', 'cached'"]),
        ('[run]\nblock_seconds = -1\n[[case]]\nworkload = "linear"\n', [":2:", "above 0"]),
        ("[[case]]\nbatch = 8\n", [":1: [[case]] 1", "no workload"]),
        ("[run]\nprocesses = 3\n", ["no cases", "[[case]]"]),
        ("", ["no cases"]),
        ('[case]\nworkload = "linear"\n', [":1:", "[[case]] with two brackets"]),
        ('[[case]]\nworkload = "linear\n', ["not valid TOML", "line 2"]),
        ('[[case]]\nworkload = "linear"\nworkload = "mlp"\n', ["not valid TOML", "line 3"]),
        ('[[case]]\nworkload = "linera"\n', [":2: [[case]] 1, key 'workload'", "mean 'linear'"]),
        ('[[case]]\nworkload = "linear"\npreset = "1kk"\n', [":3:", "key 'preset'", "mean '1k'"]),
        ('[[case]]\nworkload = "mlp"\nmode = "trian"\n', [":3:", "key 'mode'", "mean 'train'"]),
        ('[[case]]\nworkload = "mlp"\nprecision = "bf61"\n', [":3:", "key 'precision'", "mean 'bf16'"]),
        ('[[case]]\nworkload = "mlp"\nlayers = "scann"\n', [":3:", "key 'layers'", "mean 'scan'"]),
        ('[[case]]\nworkload = "gpt"\nparams = { sec = 8 }\n', [":3:", "'sec'", "mean 'seq'"]),
        (
            '[[case]]\nworkload = "linear"\n[[case]]\nworkload = "mlp"\n[[case]]\nworkload = "linear"\n',
            [":5: [[case]] 3", "there twice", "[[case]] 1"],
        ),
        ('[[case]]\nworkload = "linear"\nbatch = [8, 8]\n', ["there twice", "this table too"]),
    ],
)
def test_errors_name_the_place_and_what_to_do(tmp_path: Path, text: str, parts: list[str]) -> None:
    message = refused(tmp_path, text)
    assert "mine.toml" in message
    for part in parts:
        assert part in message


def test_a_key_in_a_multi_line_text_is_no_place(tmp_path: Path) -> None:
    text = '[run]\ndescription = """\n[[case]]\nbatch = 1\n"""\n[[case]]\nworkload = "linear"\nbatch = 0\n'
    assert ":8: [[case]] 1, key 'batch'" in refused(tmp_path, text)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x00\x01"])
def test_a_binary_file_is_no_config(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(str(path))


def test_a_missing_file_or_name_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no config file"):
        load(str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match="Did you mean 'quick'"):
        load("quik")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ConfigError, match="there is no config file"):
        load(str(tmp_path / "folder.toml"))


def test_a_config_of_the_current_folder_comes_before_a_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "quick.toml").write_text('[[case]]\nworkload = "linear"\nbatch = 3\n')
    monkeypatch.chdir(tmp_path)
    assert keys(load("quick")) == ["linear/1k/infer/default/b3/unroll/v2"]
    assert set(config.available()) >= {"quick", "smoke", "standard"}


def test_overrides_change_run_settings_and_every_case(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[case]]\nworkload = "linear"\nbatch = 8\n[[case]]\nworkload = "mlp"\nmode = "infer"\n')
    found = load(str(path), ["precision=bf16", "batch=[2, 4]", "processes=2", "budget=5m", 'timeout="9s"'])
    assert keys(found) == [
        "linear/1k/infer/bf16/b2/unroll/v2",
        "linear/1k/infer/bf16/b4/unroll/v2",
        "mlp/small/infer/bf16/b2/unroll/v2",
        "mlp/small/infer/bf16/b4/unroll/v2",
    ]
    assert (found.processes, found.budget_s, found.timeout_s) == (2, 300.0, 9.0)


def test_overrides_of_params(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[case]]\nworkload = "gpt"\nmode = "decode"\n')
    assert load(str(path), ["params.seq=4"]).cases[0].params == {"seq": 4}


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("precision", "expected KEY=VALUE"),
        ("=3", "expected KEY=VALUE"),
        ("batch=", "expected KEY=VALUE"),
        ("bacth=3", "mean 'batch'"),
        ("batch=many", "a whole number"),
        ("batch=[]", "the list is empty"),
        ("batch=[1", "not a valid TOML value"),
        ("processes=2.5", "a whole number"),
        ("budget=soon", "a duration"),
        ("run.processes=2", "unknown key"),
        ("precision=bf61", "mean 'bf16'"),
    ],
)
def test_overrides_that_cannot_be_understood(tmp_path: Path, override: str, part: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[case]]\nworkload = "linear"\n')
    with pytest.raises(ConfigError, match=part.replace("[", r"\[")):
        load(str(path), [override])


def test_select_keeps_what_matches(tmp_path: Path) -> None:
    found = written(tmp_path, '[[case]]\nworkload = ["linear", "mlp"]\nmode = "infer"\n')
    assert keys(select(found, "mlp/*")) == ["mlp/small/infer/default/b128/unroll/v2"]
    assert keys(select(found, "linear")) == ["linear/1k/infer/default/b32/unroll/v2"]
    with pytest.raises(ConfigError) as caught:
        select(found, "resnet/*")
    assert "matches no case" in str(caught.value)
    assert all(key in str(caught.value) for key in keys(found))


def test_flags_make_a_config(tmp_path: Path) -> None:
    found = from_fields({"workload": "mlp", "mode": ["train", "infer"], "batch": 4})
    assert keys(found) == ["mlp/small/train/default/b4/unroll/v2", "mlp/small/infer/default/b4/unroll/v2"]
    assert (found.name, found.path, found.sha256) == ("mlp", None, None)
    with pytest.raises(ConfigError, match=r"^--preset: .*mean 'smoke'"):
        from_fields({"workload": "mlp", "preset": "smok"})
    with pytest.raises(ConfigError, match=r"^--batch: expected a whole number"):
        from_fields({"workload": "mlp", "batch": "x"})


def test_own_workloads_are_found_from_the_configs_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "net.py").write_text("raise SystemExit('a config must not run this')\n")
    found = written(tmp_path, '[[case]]\nworkload = "here/net.py:make"\n')
    (key,) = keys(found)
    assert key == "net:make/own/own/own/b-/own/v1"
    assert Path(found.sources[key].rpartition(":")[0]).resolve() == tmp_path / "here" / "net.py"
    monkeypatch.chdir(tmp_path)
    assert written(tmp_path, '[[case]]\nworkload = "here/net.py:make"\n').sources == {
        key: f"here{os.sep}net.py:make"
    }


def test_installed_packages_bring_workloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("their-net", "their.bench:make", "jaxmark.workloads")]
    monkeypatch.setattr("suite.spec.sources.metadata.entry_points", lambda group: points)
    found = written(tmp_path, '[[case]]\nworkload = "their-net"\n')
    assert found.sources == {"their.bench:make/own/own/own/b-/own/v1": "their.bench:make"}
    message = refused(tmp_path, '[[case]]\nworkload = "thier-net"\n')
    assert "Unknown workload: 'thier-net'. Did you mean 'their-net'? Known: " in message


@pytest.mark.parametrize(
    ("case", "part"),
    [
        ('workload = "none.py:make"', "there is no workload file"),
        ('workload = "net.py"', "expected 'path/to/file.py:name'"),
        ('workload = "net.py:"', "expected 'path/to/file.py:name'"),
        ('workload = "net.py:a b"', "expected 'path/to/file.py:name'"),
        ('workload = "net.py:make"\nbatch = 3', "'batch' cannot be set"),
    ],
)
def test_own_workloads_that_cannot_be(tmp_path: Path, case: str, part: str) -> None:
    from suite.errors import JaxmarkError

    (tmp_path / "net.py").write_text("")
    with pytest.raises(JaxmarkError, match=part) as caught:
        written(tmp_path, f"[[case]]\n{case}\n")
    assert "mine.toml:" in str(caught.value)
    assert caught.value.exit_code == 2


def test_lists_nested_without_end_are_refused(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert "nested too deep" in refused(tmp_path, f'[[case]]\nworkload = "linear"\nbatch = {deep}\n')
    with pytest.raises(ConfigError, match="nested too deep"):
        from_fields({"workload": "linear"}, [f"batch={deep}"])
