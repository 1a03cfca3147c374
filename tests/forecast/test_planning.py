"""What is asked for: cases, chips, slices and meshes as people type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import ConfigError, WorkloadError
from suite.forecast.meshes import parse_mesh
from suite.forecast.planning import Wanted, check_has_batch, plan, plan_config
from suite.forecast.targets import parse_slices
from suite.spec import catalogue


def slices(text: str) -> list[tuple[str, int]]:
    return [(target.name, chips) for target, chips in parse_slices(text)]


def keys(wanted: Wanted, targets: str, mesh: str | None = None) -> list[tuple[str, str]]:
    return [(job.target, job.case.key) for job in plan(wanted, parse_slices(targets), mesh)]


@pytest.mark.parametrize(
    ("typed", "chip", "chips"),
    [
        ("v5e", "v5e", 1),
        ("v5e-8", "v5e", 8),
        ("v5litepod-16", "v5e", 16),
        ("v6e-4", "v6e", 4),
        # The cloud counts cores in the names of these, two a chip; JAX would list 8, 4 and 4 devices.
        ("v2-8", "v2", 4),
        ("v4-8", "v4", 4),
        ("v5p-8", "v5p", 4),
        ("tpu7x-4", "v7x", 4),
        ("8xh100", "h100", 8),
        ("4 x A100 80GB", "a100-80gb", 4),
        ("a100-80gb", "a100-80gb", 1),
        ("v5litepod-1", "v5e", 1),
    ],
)
def test_slices_are_counted_in_chips(typed: str, chip: str, chips: int) -> None:
    assert slices(typed) == [(chip, chips)]


@pytest.mark.parametrize(
    ("typed", "said"), [("v4-7", "counts cores, 2 a chip"), ("v5x-8", "unknown target 'v5x-8'")]
)
def test_a_slice_that_is_none_is_refused(typed: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        slices(typed)


@pytest.mark.parametrize(
    ("text", "again", "chips"),
    [("data=4", "data=4", 4), ("fsdp=8, data=2", "data=2,fsdp=8", 16), ("data=1", "data=1", 1)],
)
def test_a_mesh_as_written_and_as_kept(text: str, again: str, chips: int) -> None:
    assert (str(parse_mesh(text)), parse_mesh(text).chips) == (again, chips)


@pytest.mark.parametrize(
    "text", ["", "4", "data", "data=0", "tensor=4", "data=2,data=2", "data=-1", "data=2;fsdp=2"]
)
def test_a_mesh_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected a mesh such as data=4"):
        parse_mesh(text)


def test_every_mode_in_each_chips_own_precision() -> None:
    modes = catalogue.get("mlp").modes
    assert keys(Wanted("mlp", preset="smoke"), "t4,h100") == [
        (chip, catalogue.resolve("mlp", preset="smoke", mode=mode, precision=precision).key)
        for chip, precision in (("t4", "fp16"), ("h100", "bf16"))
        for mode in modes
    ]


def test_a_slice_without_a_mesh_shares_the_batch() -> None:
    (key,) = [key for _, key in keys(Wanted("mlp", preset="smoke", mode="train", batch=64), "v5e-8")]
    assert key.endswith("/b64/unroll/v2/mesh=data=8")


def test_a_mesh_must_be_of_the_slices_size() -> None:
    assert len(keys(Wanted("mlp", mode="train"), "v5e-8,h100", "data=2,fsdp=4")) == 2
    with pytest.raises(ConfigError, match="is 4 chips, and the target a slice of 8 v5e chips"):
        keys(Wanted("mlp", mode="train"), "v5e-8", "fsdp=4")


def test_a_parameter_goes_to_the_modes_that_have_it() -> None:
    assert [key for _, key in keys(Wanted("gpt", preset="smoke", params={"seq": 8}), "v5e")] == [
        catalogue.resolve("gpt", preset="smoke", mode=mode, precision="bf16", params={"seq": 8}).key
        for mode in catalogue.get("gpt").modes
    ]
    with pytest.raises(ConfigError, match="Unknown parameter of gpt: 'length'"):
        keys(Wanted("gpt", params={"length": 8}), "v5e")


def test_a_config_for_each_chip() -> None:
    jobs = plan_config("smoke", ["precision=bf16"], parse_slices("v5e,h100"))
    assert {job.target for job in jobs} == {"v5e", "h100"}
    assert {job.case.precision for job in jobs} == {"bf16"}


def test_a_users_own_workload_is_as_its_code_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    (job,) = plan(Wanted("mine.py:make"), parse_slices("v5e"))
    assert (job.source, job.case.key) == ("mine.py:make", "mine:make/own/own/own/b-/own/v1")
    with pytest.raises(ConfigError, match="which takes no other"):
        check_has_batch([job])
    for field in ({"preset": "smoke"}, {"batch": 4}, {"precision": "fp32"}, {"params": {"seq": 8}}):
        with pytest.raises(ConfigError, match="whose code says what it is"):
            plan(Wanted("mine.py:make", **field), parse_slices("v5e"))  # type: ignore[arg-type]
    with pytest.raises(WorkloadError, match="no workload file"):
        plan(Wanted("other.py:make"), parse_slices("v5e"))
