"""`list`: from the catalogue and the configs as they are."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

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
        assert f"{spec.name} (v{spec.version}): {spec.summary}" in shown
        for name, preset in spec.presets.items():
            assert any(line.split()[:2] == [name, f"{preset.parameters:,}"] for line in shown.splitlines()), (
                name
            )
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
