"""The table of accelerators: exact names, dense peaks, and nothing made up."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from suite.hardware.devices import DeviceFacts, all_devices, lookup, peak_flops, products_of

PRECISIONS = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"}


@pytest.mark.parametrize("facts", all_devices(), ids=lambda facts: facts.id)
def test_each_row_is_whole_and_sourced(facts: DeviceFacts) -> None:
    assert facts.kinds
    assert facts.source
    assert facts.note
    assert date.fromisoformat(facts.as_of)
    assert facts.platform in ("cuda", "rocm", "tpu")
    assert facts.devices_per_chip in (1, 2)
    assert facts.chip_memory_bytes > 5 * 10**9
    assert facts.chip_bandwidth > 10**11
    assert set(facts.chip_peak_tflops) <= PRECISIONS
    assert all(peak > 0 for peak in facts.chip_peak_tflops.values())


def test_a_kind_names_one_row() -> None:
    kinds = Counter(kind for facts in all_devices() for kind in facts.kinds)
    assert [kind for kind, count in kinds.items() if count > 1] == []


def test_figures_of_one_device_are_a_share_of_the_chip() -> None:
    v3 = lookup("TPU v3")
    assert v3 is not None
    assert v3.peak_flops("bf16") == 61.5e12
    assert v3.memory_bytes == 16 << 30
    assert v3.bandwidth == 450e9


def test_a_precision_without_a_vendor_figure_has_no_peak() -> None:
    v100 = lookup("Tesla V100-SXM2-16GB")
    assert v100 is not None
    assert v100.peak_flops("bf16") is None
    assert v100.peak_flops("fp16") == 125e12


@pytest.mark.parametrize("kind", ["cpu", "NVIDIA H100", "nvidia h200", "gfx942", ""])
def test_a_name_that_is_not_exact_is_unknown(kind: str) -> None:
    assert lookup(kind) is None


@pytest.mark.parametrize(
    ("precision", "platform", "arithmetic"),
    [
        ("fp32", "cuda", ("fp32",)),
        ("default", "cuda", ("tf32", "fp32")),
        ("default", "rocm", ("fp32",)),
        ("default", "tpu", ("bf16",)),
        ("fp32", "tpu", ()),
        ("fp16", "tpu", ()),
        ("bf16", "tpu", ("bf16",)),
    ],
)
def test_a_peak_follows_the_multiplication_that_is_used(
    precision: str, platform: str, arithmetic: tuple[str, ...]
) -> None:
    assert products_of(precision, platform) == arithmetic


def test_default_is_tf32_on_an_a100_and_fp32_on_a_v100() -> None:
    def peak(kind: str) -> float | None:
        found = (peak_flops(kind, arithmetic) for arithmetic in products_of("default", "cuda"))
        return next((flops for flops in found if flops is not None), None)

    assert peak("NVIDIA A100-SXM4-40GB") == 156e12
    assert peak("Tesla V100-SXM2-16GB") == 15.7e12
    assert peak("a chip of tomorrow") is None
