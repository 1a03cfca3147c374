"""`list`: from the catalogue and the configs as they are."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from suite.errors import ConfigError
from suite.report import listing
from suite.report.text import make_console
from suite.spec import catalogue, config


def text() -> str:
    file = io.StringIO()
    listing.show_list(make_console(file))
    return file.getvalue()


def test_every_workload_preset_and_config_is_there() -> None:
    shown = text()
    for spec in catalogue.all_specs():
        assert f"{spec.name} (v{spec.version}): {spec.summary}" in " ".join(shown.split())
        for name, preset in spec.presets.items():
            parameters = f"{preset.parameters_in(spec.modes[0]):,}"
            assert any(line.split()[:2] == [name, parameters] for line in shown.splitlines()), name
    for name in config.available():
        assert any(line.split()[:1] == [name] for line in shown.splitlines()), name


def test_rows_are_the_catalogues_own_figures() -> None:
    rows = {
        (row["workload"], row["preset"], row["mode"]): row for row in json.loads(listing.as_json())["presets"]
    }
    assert len(rows) == sum(len(spec.presets) * len(spec.modes) for spec in catalogue.all_specs())
    row = rows["linear", "1k", "infer"]
    assert row["parameters"] == 1_001_000
    assert row["flops_per_item"] == 2 * 1000 * 1000
    assert row["batch"] == 32


def test_memory_and_intensity_are_known_of_every_preset_and_mode() -> None:
    for row in listing.presets():
        assert row["weights_bytes"] == 4 * row["parameters"], row
        assert row["state_bytes"] >= row["weights_bytes"], row
        assert row["flops_per_byte"] == row["flops_per_step"] / row["bytes_min"], row


def test_no_line_is_wider_than_a_page() -> None:
    assert max(map(len, text().splitlines())) <= 100


def test_one_workload_is_shown_in_detail() -> None:
    file = io.StringIO()
    listing.show_list(make_console(file), "gpt")
    shown = " ".join(file.getvalue().split())
    spec = catalogue.get("gpt")
    assert all(preset.source in shown for preset in spec.presets.values())
    assert all(setting.summary in shown for setting in spec.settings.values())
    assert "lstm" not in shown
    assert {row["workload"] for row in json.loads(listing.as_json("gpt"))["presets"]} == {"gpt"}
    with pytest.raises(ConfigError, match="'gpt'"):
        listing.show_list(make_console(file), "gpr")


def test_tsv_has_the_same_rows() -> None:
    header, *lines = listing.as_tsv().splitlines()
    assert header.split("\t")[:4] == ["workload", "version", "preset", "mode"]
    assert len(lines) == len(list(listing.presets()))
    assert {len(line.split("\t")) for line in lines} == {len(header.split("\t"))}


def test_a_config_that_cannot_be_read_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "mine.toml").write_text("nonsense = [")
    monkeypatch.chdir(tmp_path)
    (row,) = [row for row in listing.configs() if row["name"] == "mine"]
    assert row["cases"] is None
    assert row["description"].startswith("cannot be read: ")
    assert "mine" in text()


def test_workloads_of_installed_packages_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "mypackage-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jaxmark.workloads]\nmymodel = mypackage.bench:make\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "mymodel  mypackage.bench:make" in text()
    assert json.loads(listing.as_json())["own"] == {"mymodel": "mypackage.bench:make"}
