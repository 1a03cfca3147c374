"""Which accelerators a machine has, on trees and with an nvidia-smi that really runs."""

from __future__ import annotations

import pytest

from suite.hardware import accelerators, extras
from suite.hardware.hints import hints, install_command
from tests.hardware.conftest import Plant, Tool

H100 = "NVIDIA H100 80GB HBM3, 580.82.07, 81559, 9.0"
V100 = "Tesla V100-SXM2-16GB, 580.82.07, 16384, 7.0"
NVIDIA_NODE = {"dev/nvidia0": "", "proc/driver/nvidia/version": "NVRM version: x"}
AMD_NODE = {
    "dev/kfd": "",
    "sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 8\nsimd_count 0\n",
    "sys/class/kfd/kfd/topology/nodes/1/properties": "cpu_cores_count 0\nsimd_count 304\n",
}


def pci(slot: str, vendor: str, device: str, kind: str) -> dict[str, str]:
    base = f"sys/bus/pci/devices/0000:00:{slot}.0"
    return {f"{base}/vendor": f"{vendor}\n", f"{base}/device": f"{device}\n", f"{base}/class": f"{kind}\n"}


TPU_V5E = pci("04", "0x1ae0", "0x0063", "0x120000")
GOOGLE_NETWORK_CARD = pci("03", "0x1ae0", "0x0042", "0x020000")


def nvidia_smi(tool: Tool, *lines: str) -> None:
    tool("nvidia-smi", "\n".join(f"echo '{line}'" for line in lines))


def test_a_machine_without_accelerators_has_none(plant: Plant, tool: Tool) -> None:
    root = plant(GOOGLE_NETWORK_CARD | {"dev/vfio/vfio": ""})
    assert accelerators.present(root) == []
    assert extras.choose(root) == extras.Choice("cpu", "no GPU or TPU found.")
    assert hints("cpu", jax_version="0.12.0", plugins={}, variables={}, root=root) == []


def test_a_tpu_is_told_from_a_network_card_of_the_same_vendor(plant: Plant, tool: Tool) -> None:
    root = plant(GOOGLE_NETWORK_CARD | TPU_V5E | {"dev/vfio/0": "", "dev/vfio/vfio": ""})
    (presence,) = accelerators.present(root)
    assert (presence.kind, presence.name, presence.evidence) == ("tpu", "TPU v5e", "/dev/vfio/0")
    assert extras.choose(root).extra == "tpu"


def test_an_nvidia_gpu_is_seen_by_its_device_node_alone(plant: Plant, tool: Tool) -> None:
    (presence,) = accelerators.present(plant({"dev/nvidia0": ""}))
    assert (presence.kind, presence.driver_loaded) == ("cuda", True)


def test_a_gpu_without_driver_is_there_and_cannot_be_used(plant: Plant, tool: Tool) -> None:
    root = plant(pci("05", "0x10de", "0x2330", "0x030200"))
    (presence,) = accelerators.present(root)
    assert not presence.driver_loaded
    choice = extras.choose(root)
    assert choice.extra == "cpu"
    assert "driver is not loaded" in choice.reason
    (hint,) = hints("cpu", jax_version="0.12.0", plugins={}, variables={}, root=root)
    assert "nvidia-smi" in hint


def test_an_old_nvidia_smi_does_not_know_the_capability(tool: Tool) -> None:
    tool(
        "nvidia-smi",
        'case "$1" in *compute_cap*) echo \'Field "compute_cap" is not a valid field\' ; exit 2;; esac\n'
        "echo 'Tesla K80, 470.82.01, 11441'",
    )
    (gpu,) = accelerators.nvidia_gpus()
    assert (gpu.name, gpu.compute_capability, gpu.driver, gpu.memory_bytes) == (
        "Tesla K80",
        None,
        "470.82.01",
        11441 << 20,
    )


def test_an_nvidia_smi_that_fails_lists_nothing(tool: Tool) -> None:
    tool(
        "nvidia-smi", "echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9"
    )
    assert accelerators.nvidia_gpus() == []


def test_the_driver_version_is_read_without_nvidia_smi(plant: Plant) -> None:
    text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC\n"
    assert accelerators.nvidia_driver(plant({"proc/driver/nvidia/version": text})) == "535.104.05"
    open_text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build\n"
    assert accelerators.nvidia_driver(plant({"proc/driver/nvidia/version": open_text})) == "580.82.07"


@pytest.mark.parametrize(
    ("gpus", "extra"),
    [
        ([H100], "cuda13"),
        (["Tesla T4, 580.65.06, 15360, 7.5"], "cuda13"),
        ([V100], "cuda12"),
        ([H100, V100], "cuda12"),
        (["NVIDIA H100 80GB HBM3, 535.104.05, 81559, 9.0"], "cuda12"),
        (["NVIDIA H100 80GB HBM3, 575.99, 81559, 9.0"], "cuda12"),
        (["NVIDIA B200, 1000.1, 183359, 10.0"], "cuda13"),
        (["Tesla P100-PCIE-16GB, 525.60.13, 16384, 6.0"], "cuda12"),
        (["Mystery, 580.82.07, 1000, [N/A]"], "cuda12"),
        (["Tesla T4, 470.82.01, 15360, 7.5"], "cpu"),
        (["Tesla K80, 525.60.13, 11441, 3.7"], "cpu"),
    ],
)
def test_cuda_13_only_where_driver_and_every_chip_allow_it(
    plant: Plant, tool: Tool, gpus: list[str], extra: str
) -> None:
    nvidia_smi(tool, *gpus)
    assert extras.choose(plant(NVIDIA_NODE)).extra == extra


def test_an_old_driver_is_the_reason_given(plant: Plant, tool: Tool) -> None:
    nvidia_smi(tool, "Tesla T4, 470.82.01, 15360, 7.5")
    assert "driver 470.82.01; CUDA 12 needs driver 525 or newer" in extras.choose(plant(NVIDIA_NODE)).reason


def test_rocm_needs_a_rocm_that_is_installed(plant: Plant, tool: Tool) -> None:
    assert extras.choose(plant(AMD_NODE)).extra == "cpu"
    assert "no ROCm in /opt/rocm" in extras.choose(plant(AMD_NODE)).reason
    assert extras.choose(plant(AMD_NODE | {"opt/rocm/bin/rocminfo": ""})).extra == "rocm"


def test_a_kfd_with_processors_only_is_no_gpu(plant: Plant, tool: Tool) -> None:
    nodes = {"dev/kfd": "", "sys/class/kfd/kfd/topology/nodes/0/properties": "simd_count 0\n"}
    assert accelerators.present(plant(nodes)) == []


def test_amd_memory_is_that_of_an_amd_card(plant: Plant) -> None:
    card = "sys/class/drm/card1/device"
    root = plant({f"{card}/mem_info_vram_total": "206141652992\n", f"{card}/vendor": "0x1002\n"})
    assert accelerators.amd_memory_bytes(root) == 206141652992


def test_the_hint_gives_the_command_for_the_jax_at_hand(plant: Plant, tool: Tool) -> None:
    nvidia_smi(tool, H100)
    (hint,) = hints("cpu", jax_version="0.12.0", plugins={}, variables={}, root=plant(NVIDIA_NODE))
    assert "NVIDIA H100 80GB HBM3 is here (/dev/nvidia0), but JAX runs on the CPU" in hint
    assert hint.endswith(install_command("cuda13", "0.12.0"))
    assert '-m pip install "jax[cuda13]==0.12.0"' in hint


@pytest.mark.parametrize(
    ("plugins", "variables", "says"),
    [
        ({}, {"JAX_PLATFORMS": "cpu"}, "unset JAX_PLATFORMS"),
        ({"jax-cuda12-plugin": "0.12.0"}, {"CUDA_VISIBLE_DEVICES": ""}, "unset CUDA_VISIBLE_DEVICES"),
        (
            {"jax-cuda12-plugin": "0.7.1"},
            {},
            "although jax-cuda12-plugin 0.7.1 is installed beside jax 0.12.0",
        ),
    ],
)
def test_the_hint_names_what_keeps_jax_away(
    plant: Plant, tool: Tool, plugins: dict[str, str], variables: dict[str, str], says: str
) -> None:
    nvidia_smi(tool, H100)
    (hint,) = hints(
        "cpu", jax_version="0.12.0", plugins=plugins, variables=variables, root=plant(NVIDIA_NODE)
    )
    assert says in hint


def test_a_plugin_without_its_device_is_said(plant: Plant, tool: Tool) -> None:
    plugins = {"jax-cuda12-pjrt": "0.12.0", "jax-cuda12-plugin": "0.12.0"}
    (hint,) = hints("cpu", jax_version="0.12.0", plugins=plugins, variables={}, root=plant({}))
    assert hint.startswith("jax-cuda12-plugin 0.12.0 is installed, but JAX runs on the CPU")
    assert "docker run --gpus all" in hint
    forced = {"JAX_PLATFORMS": "cpu"}
    assert hints("cpu", jax_version="0.12.0", plugins=plugins, variables=forced, root=plant({})) == []


def test_hardware_in_use_needs_no_hint(plant: Plant, tool: Tool) -> None:
    nvidia_smi(tool, H100)
    assert hints("cuda", jax_version="0.12.0", plugins={}, variables={}, root=plant(NVIDIA_NODE)) == []
