"""Names of chips as people type them, and what each chip has units for."""

from __future__ import annotations

import pytest

from suite.errors import ConfigError
from suite.forecast.targets import GPU_RESERVE_BYTES, all_targets, find, parse

ASKED_FOR = ("t4", "v100", "p100", "a100", "l4", "h100", "b200", "v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x")


@pytest.mark.parametrize("name", ASKED_FOR)
def test_the_names_that_people_use_are_the_names_shown(name: str) -> None:
    assert find(name).name == name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Tesla T4", "t4"),
        ("nvidia_h100_80gb_hbm3", "h100"),
        ("NVIDIA-Tesla-V100", "v100"),
        ("nvidia-a100-80gb", "a100-80gb"),
        ("A100 80GB", "a100-80gb"),
        (" TPU v6e ", "v6e"),
        ("tpu-v5-lite", "v5e"),
        ("v5litepod-1", "v5e"),
        ("Trillium", "v6e"),
        ("TPU7x", "v7x"),
    ],
)
def test_other_names_of_the_same_chip_are_understood(typed: str, name: str) -> None:
    assert find(typed).name == name


def test_every_name_reaches_its_own_chip() -> None:
    for target in all_targets():
        for name in (*target.facts.target_names, target.facts.id, *target.facts.kinds):
            assert find(name) == target, name


def test_a_list_names_each_chip_once_and_keeps_its_order() -> None:
    assert [target.name for target in parse("v6e, t4,tesla-t4,,h100")] == ["v6e", "t4", "h100"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("h10", "Did you mean 'h100'?"),
        ("v5d", "Did you mean 'v5"),
        ("gpu", "Known: a100, a100-80gb"),
        ("", "expected targets such as t4,h100,v5e"),
        ("v5litepod-8", "a slice of several devices, and a step is compiled for one: use 'v5e'"),
        ("v2-8", "use 'v2'"),
        ("k80", "Tesla K80 (one GK210 of the two on the board) cannot be compiled for"),
        ("a10g", "A10G (AWS G5) cannot be compiled for without having one"),
        ("AMD Instinct MI300X", "cannot be compiled for without having one"),
    ],
)
def test_what_cannot_be_compiled_for_is_refused_with_what_to_do(typed: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(typed)
    assert said in str(caught.value)


def test_a_chip_trains_in_the_16_bits_that_it_has_units_for() -> None:
    trains = {target.name: target.training_precision for target in all_targets()}
    assert {name for name, precision in trains.items() if precision == "fp16"} == {
        *("p100", "p100-pcie", "v100", "v100-32gb", "t4"),
    }
    assert find("t4").native("native") == "fp16"
    assert find("t4").native("fp32") == "fp32"


@pytest.mark.parametrize(
    ("name", "emulated"),
    [("t4", {"bf16"}), ("v100", {"bf16"}), ("l4", set()), ("h100", set()), ("v5e", {"fp16", "fp32"})],
)
def test_a_precision_without_units_is_emulated(name: str, emulated: set[str]) -> None:
    target = find(name)
    assert {p for p in ("fp32", "default", "bf16", "fp16") if target.emulation(p)} == emulated


def test_memory_is_one_devices_and_a_gpu_keeps_a_reserve() -> None:
    assert find("v3").usable_bytes == 16 << 30
    assert find("v5e").usable_bytes == round(15.75 * 2**30)
    assert find("t4").usable_bytes == round(14.75 * 2**30) - GPU_RESERVE_BYTES


def test_each_target_has_what_its_compiler_must_be_told() -> None:
    figures = {
        *("core_count", "fpus_per_core", "clock_ghz", "l2_bytes", "shared_memory_per_block"),
        *("shared_memory_per_block_optin", "shared_memory_per_core", "threads_per_core_limit"),
        "registers_per_core",
    }
    for target in all_targets():
        if target.platform == "tpu":
            assert target.facts.topology
            assert target.facts.target is None
        else:
            assert target.facts.target is not None
            assert set(target.facts.target) == figures
            assert target.facts.compute_capability
