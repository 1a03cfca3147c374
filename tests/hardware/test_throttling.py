"""Throttle counters and programs on a GPU, from planted trees and recorded answers."""

from __future__ import annotations

import pytest

from suite.hardware.throttling import Throttling, cpu_events, device_processes, nvidia_ms, read
from tests.hardware.conftest import Plant, Tool

CORE = "sys/devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count"


def test_events_are_added_up_over_the_cores(plant: Plant) -> None:
    assert cpu_events(plant({CORE.format(0): "3\n", CORE.format(1): "0\n", CORE.format(11): "2\n"})) == 5


def test_a_kernel_that_does_not_count(plant: Plant) -> None:
    assert cpu_events(plant({})) is None
    assert cpu_events(plant({CORE.format(0): "not now"})) is None


def test_what_was_added_since() -> None:
    assert Throttling(5, 1200).since(Throttling(3, 1200)) == (2, 0)
    assert Throttling(5, None).since(Throttling(None, 7)) == (None, None)
    assert Throttling(1, 2).since(Throttling(3, 1)) == (None, 1)  # the counter began anew


@pytest.mark.parametrize(
    ("answer", "ms"),
    [
        ("250000, 1500000, 999", 1750),
        ("250000 us, 0 us, 0 us", 250),  # some drivers give the unit though told not to
        ("[N/A], [N/A], [N/A]", None),
        ("0, 0, 0\n700000, 0, 0", 0),  # the first GPU only
    ],
)
def test_time_for_which_a_gpu_was_slowed_down(answer: str, ms: int | None, tool: Tool) -> None:
    lines = "\n".join(f"echo '{line}'" for line in answer.splitlines())
    tool("nvidia-smi", lines)
    assert nvidia_ms({}) == ms


def test_a_driver_without_the_counters(tool: Tool) -> None:
    tool(
        "nvidia-smi",
        "echo 'Field \"clocks_event_reasons_counters.x\" is not a valid field to query.'; exit 2",
    )
    assert nvidia_ms({}) is None


def test_without_the_tool_nothing_is_known(tool: Tool, plant: Plant) -> None:
    assert nvidia_ms({}) is None
    assert device_processes("cuda", {}) is None
    assert read("cpu", plant({})) == (None, None)


def test_programs_on_a_gpu_are_counted(tool: Tool) -> None:
    tool("nvidia-smi", "echo 4711; echo ' 4712'; echo '[Not Found]'")
    assert device_processes("cuda", {}) == 2
    assert device_processes("cpu", {}) is None


def test_no_program_is_told_from_no_answer(tool: Tool) -> None:
    tool("nvidia-smi", "case \"$*\" in *-L*) echo 'GPU 0: NVIDIA L4 (UUID: GPU-1)';; esac")
    assert device_processes("cuda", {}) == 0
    tool("nvidia-smi", "echo 'has failed because it could not communicate'; exit 9")
    assert device_processes("cuda", {}) is None


def test_the_gpu_that_jax_lists_first_is_asked(tool: Tool) -> None:
    tool("nvidia-smi", '[ "$1 $2" = "-i 3" ] && echo 4711')
    assert device_processes("cuda", {"CUDA_VISIBLE_DEVICES": "3,1"}) == 1
    assert device_processes("cuda", {}) is None
