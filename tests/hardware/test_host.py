"""What the kernel's files say about the host, on trees of machines that are not here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from suite.hardware import cgroup, host
from tests.hardware.conftest import Plant

X86 = "model name\t: AMD EPYC 7B13\ncpu MHz\t\t: 2000.5\n\nmodel name\t: AMD EPYC 7B13\ncpu MHz\t\t: 3000.5\n"
ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
NO_LIMIT_V1 = "9223372036854771712\n"


def test_an_x86_processor_has_a_name(plant: Plant) -> None:
    assert host.cpu_model(plant({"proc/cpuinfo": X86})) == "AMD EPYC 7B13"


def test_an_arm_server_is_named_by_its_part(plant: Plant) -> None:
    assert host.cpu_model(plant({"proc/cpuinfo": ARM})).endswith("implementer 0x41 part 0xd0c")


def test_an_arm_board_is_named_by_its_device_tree(plant: Plant) -> None:
    root = plant({"proc/cpuinfo": ARM, "proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0\0"})
    assert host.cpu_model(root) == "Raspberry Pi 5 Model B Rev 1.0"


def test_a_processor_is_never_nameless(plant: Plant) -> None:
    assert host.cpu_model(plant({}))


def test_the_last_level_is_the_deepest_cache_that_holds_data(plant: Plant) -> None:
    base = "sys/devices/system/cpu/cpu0/cache"
    caches = [
        ("1", "Data", "32K"),
        ("1", "Instruction", "64K"),
        ("2", "Unified", "1024K"),
        ("3", "Unified", "32M"),
    ]
    files = {}
    for index, (level, kind, size) in enumerate(caches):
        files |= {
            f"{base}/index{index}/level": f"{level}\n",
            f"{base}/index{index}/type": f"{kind}\n",
            f"{base}/index{index}/size": f"{size}\n",
        }
    assert host.last_level_cache_bytes(plant(files)) == 32 << 20


def test_memory_is_read_in_bytes(plant: Plant) -> None:
    root = plant({"proc/meminfo": "MemTotal:       16384 kB\nMemFree:  10 kB\nMemAvailable:    8192 kB\n"})
    assert host.ram_bytes(root) == 16384 * 1024
    assert host.available_memory_bytes(root) == 8192 * 1024
    assert host.memory_limit_bytes(root) == 8192 * 1024


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="macOS asks sysctl, whatever the tree says")
def test_what_cannot_be_read_is_not_known(plant: Plant) -> None:
    root = plant({"proc/meminfo/now-a-folder": "", "proc/cpuinfo": "processor : 0\n"})
    assert host.ram_bytes(root) is None
    assert host.available_memory_bytes(root) is None
    assert host.memory_limit_bytes(root) is None
    assert host.cpu_mhz(root) is None
    assert host.last_level_cache_bytes(root) is None


def test_the_clock_is_the_mean_over_the_processors(plant: Plant) -> None:
    assert host.cpu_mhz(plant({"proc/cpuinfo": X86})) == 2500.5


def test_the_governor_knows_the_clock_better_than_cpuinfo(plant: Plant) -> None:
    cpu = "sys/devices/system/cpu"
    root = plant({
        "proc/cpuinfo": X86,
        f"{cpu}/cpu0/cpufreq/scaling_cur_freq": "1000000\n",
        f"{cpu}/cpu1/cpufreq/scaling_cur_freq": "2000000\n",
    })  # fmt: skip
    assert host.cpu_mhz(root) == 1500.0


def test_without_a_control_group_there_is_no_limit(plant: Plant) -> None:
    root = plant({"proc/self/cgroup": "0::/user.slice\n"})
    assert cgroup.memory_headroom(root) is None
    assert cgroup.cpu_quota(root) is None


def version_2(**limits: str) -> dict[str, str]:
    files = {"proc/self/cgroup": "0::/pod/box\n"}
    return files | {
        f"sys/fs/cgroup/{name.replace('__', '/').replace('_', '.')}": v for name, v in limits.items()
    }


def test_version_2_counts_the_tightest_limit_on_the_way_up(plant: Plant) -> None:
    root = plant(
        version_2(pod__memory_max="1000\n", pod__memory_current="900\n", pod__box__memory_max="max\n")
    )
    assert cgroup.memory_headroom(root) == 100


def test_page_cache_that_the_kernel_drops_is_headroom(plant: Plant) -> None:
    root = plant(
        version_2(
            pod__box__memory_max="1000\n",
            pod__box__memory_current="900\n",
            pod__box__memory_stat="anon 100\ninactive_file 700\nactive_file 100\n",
        )
    )
    assert cgroup.memory_headroom(root) == 800


def test_a_limit_below_what_is_free_is_the_limit(plant: Plant) -> None:
    files = version_2(pod__memory_max="4096\n", pod__memory_current="0\n")
    root = plant(files | {"proc/meminfo": "MemTotal: 64 kB\nMemAvailable: 32 kB\n"})
    assert host.memory_limit_bytes(root) == 4096
    assert host.ram_bytes(root) == 64 * 1024


def test_inside_a_container_the_limit_lies_at_the_mount(plant: Plant) -> None:
    root = plant({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "512\n"})
    assert cgroup.memory_headroom(root) == 512


def test_a_group_that_is_not_visible_here_is_passed_over(plant: Plant) -> None:
    root = plant({"proc/self/cgroup": "0::/../elsewhere\n", "sys/fs/cgroup/memory.max": "512\n"})
    assert cgroup.memory_headroom(root) == 512


def test_version_1_limits_count_and_its_no_limit_does_not(plant: Plant) -> None:
    group = "sys/fs/cgroup/memory/docker/x"
    files = {
        "proc/self/cgroup": "4:cpu,cpuacct:/\n3:memory:/docker/x\n",
        f"{group}/memory.limit_in_bytes": NO_LIMIT_V1,
    }
    assert cgroup.memory_headroom(plant(files)) is None
    files |= {
        f"{group}/memory.limit_in_bytes": "1000\n",
        f"{group}/memory.usage_in_bytes": "400\n",
        f"{group}/memory.stat": "cache 300\ntotal_inactive_file 100\n",
    }
    root = plant(files)
    assert cgroup.memory_headroom(root) == 700


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        (version_2(pod__cpu_max="150000 100000\n"), 1.5),
        (version_2(pod__cpu_max="max 100000\n"), None),
        (
            {
                "proc/self/cgroup": "2:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (
            {
                "proc/self/cgroup": "2:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
    ],
)
def test_a_quota_is_in_cores(plant: Plant, files: dict[str, str], cores: float | None) -> None:
    assert cgroup.cpu_quota(plant(files)) == cores


def test_a_quota_below_one_core_leaves_one(plant: Plant) -> None:
    assert host.cpu_cores_available(plant(version_2(pod__cpu_max="10000 100000\n"))) == 1


def test_this_host_has_what_every_host_has() -> None:
    total, available = host.ram_bytes(), host.memory_limit_bytes()
    assert total is not None
    assert available is not None
    assert 0 < available <= total
    assert 1 <= host.cpu_cores_available() <= (host.cpu_cores_total() or 1)
    assert host.cpu_model()
    assert host.os_name()
    assert host.load_average() is not None


def test_affinity_counts(plant: Plant) -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity on this system")
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert host.cpu_cores_available(Path("/nowhere")) == 1
    finally:
        os.sched_setaffinity(0, before)
