"""What stands before the first process: requirements, headers, resuming, limits, estimates."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

import suite
from suite.errors import ConfigError, PlatformError
from suite.run import estimate, limits, prepare
from suite.run.estimate import Rates, accelerator_rates, cpu_rates, expected_seconds
from suite.spec.catalogue import resolve
from suite.spec.config import from_fields
from suite.spec.settings import MeasureSettings
from tests.builders import case, environment, header


def test_what_is_required_must_be_there() -> None:
    prepare.require(environment(), "cpu")
    prepare.require(environment(platform="cuda", device_kind="NVIDIA L4"), "gpu")
    prepare.require(environment(platform="rocm"), "gpu")
    with pytest.raises(PlatformError, match=r"--require gpu: found cpu \(cpu, 1 device") as caught:
        prepare.require(environment(), "gpu")
    assert caught.value.exit_code == 2
    with pytest.raises(PlatformError, match="--require tpu: found cuda"):
        prepare.require(environment(platform="cuda"), "tpu")


def test_a_name_for_the_machine() -> None:
    assert prepare.named(environment(), "ci-a100").machine.machine_id == "ci-a100"
    assert prepare.named(environment(), None).machine.machine_id == "m-0123456789abcdef"


def test_a_new_header_says_what_the_config_says() -> None:
    config = replace(
        from_fields({"workload": "linear"}, ["processes=3", "seed=4", "compile=cached"]), sha256="ab"
    )
    head = prepare.new_header(config, environment(), ["jaxmark", "run"])
    run = head.run
    assert (run.config, run.config_sha256, run.processes_planned, run.seed) == ("linear", "ab", 3, 4)
    assert (run.compile_cache, run.state, run.suite_version) == ("cached", "running", suite.__version__)
    assert head.cases == config.cases
    assert prepare.new_header(config, environment(), []).run.id != run.id


def test_the_commit_is_that_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert prepare.git_commit() is None
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert prepare.git_commit() == head
    (tmp_path / "file").write_text("a")
    subprocess.run(["git", "add", "file"], check=True)
    assert prepare.git_commit() == f"{head}-dirty"


def test_a_run_is_resumed_on_its_own_machine_with_its_own_software_only() -> None:
    head = header(case(), suite_version=suite.__version__)
    prepare.check_resumable(head, environment())
    # Kernels report slightly different sizes from one start to the next.
    prepare.check_resumable(head, environment(ram_bytes=8_589_934_592 - 4096))
    with pytest.raises(ConfigError, match="device_kind: 'cpu' then, 'NVIDIA L4' now"):
        prepare.check_resumable(head, environment(device_kind="NVIDIA L4"))
    with pytest.raises(ConfigError, match="ram_bytes"):
        prepare.check_resumable(head, environment(ram_bytes=4_294_967_296))
    other = environment()
    other.software.jax = "0.12.0"
    with pytest.raises(ConfigError, match=r"the software is not .*\n  jax: '0.10.2' then, '0.12.0' now"):
        prepare.check_resumable(head, other)
    old = msgspec.structs.replace(head, run=msgspec.structs.replace(head.run, suite_version="0.0.1"))
    with pytest.raises(ConfigError, match=r"jaxmark 0\.0\.1"):
        prepare.check_resumable(old, environment())


def test_a_memory_limit_is_set_on_a_linux_cpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.run.limits.host.memory_limit_bytes", lambda: 10 * 2**30)
    monkeypatch.setattr("suite.run.limits.sys.platform", "linux")
    assert limits.worker_memory_limit("cuda") is None
    assert limits.worker_memory_limit("cpu") == 10 * 2**30 - 10 * 2**30 // 20
    monkeypatch.setattr("suite.run.limits.host.memory_limit_bytes", lambda: 400 * 2**20)
    assert limits.worker_memory_limit("cpu") == 200 * 2**20
    monkeypatch.setattr("suite.run.limits.host.memory_limit_bytes", lambda: None)
    assert limits.worker_memory_limit("cpu") is None
    monkeypatch.setattr("suite.run.limits.sys.platform", "darwin")
    assert limits.worker_memory_limit("cpu") is None


def test_kills_for_memory_are_read_from_the_kernel(tmp_path: Path) -> None:
    assert limits.oom_kills(tmp_path) == 0
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "vmstat").write_text("pgfault 12\noom_kill 3\noom_kill_x 9\n")
    assert limits.oom_kills(tmp_path) == 3


SETTINGS = MeasureSettings(warmup_seconds=1.0, block_seconds=2.0, latency_seconds=1.0)


def test_expected_seconds_follow_the_passes_of_a_process() -> None:
    slow = resolve("linear", preset="10k", mode="infer", precision="fp32", batch=1000)
    # 200 GFLOP at 100 GFLOP/s: a step of 2 s; 8 single ones, 4 to warm up, 5 blocks, no latency pass.
    assert expected_seconds(slow, SETTINGS, Rates({"fp32": 100e9}, "")) == pytest.approx(7 + (8 + 4 + 5) * 2)
    fast = resolve("linear", preset="1k", mode="infer", precision="fp32", batch=32)
    # 64 MFLOP at 64 GFLOP/s: 1 ms; 1 s of warm-up, 20 blocks of 50 ms, 100 single steps.
    assert expected_seconds(fast, SETTINGS, Rates({"fp32": 64e9}, "")) == pytest.approx(
        7 + 0.008 + 1 + 1 + 0.1
    )


def test_no_rate_and_no_formula_give_no_estimate() -> None:
    assert expected_seconds(case(), SETTINGS, Rates({}, "")) is None
    own = from_fields({"workload": f"{Path(__file__).parent / 'own_workloads' / 'tiny.py'}:good"}).cases[0]
    assert expected_seconds(own, SETTINGS, Rates({"fp32": 1e9}, "")) is None


def test_a_rate_is_measured_on_a_cpu() -> None:
    rates = cpu_rates(size=64, seconds=0.01)
    assert set(rates.by_precision) == {"fp32", "default", "bf16", "fp16"}
    assert all(rate > 0 for rate in rates.by_precision.values())
    assert "NumPy" in rates.basis


def test_a_rate_of_an_accelerator_is_a_share_of_its_own_peak_or_none() -> None:
    a100 = accelerator_rates("cuda", "NVIDIA A100-SXM4-40GB").by_precision
    assert a100 == pytest.approx(
        {"fp32": 0.3 * 19.5e12, "default": 0.3 * 156e12, "bf16": 0.3 * 312e12, "fp16": 0.3 * 312e12}
    )
    t4 = accelerator_rates("cuda", "Tesla T4").by_precision
    assert t4 == pytest.approx({"fp32": 0.3 * 8.1e12, "default": 0.3 * 8.1e12, "fp16": 0.3 * 65e12})
    # Two JAX devices a chip: a device has half of its peak. Strict float32 has no published peak there.
    assert accelerator_rates("tpu", "TPU v3").by_precision == pytest.approx(
        {"default": 0.3 * 61.5e12, "bf16": 0.3 * 61.5e12}
    )
    unknown = accelerator_rates("cuda", "NVIDIA Imaginary")
    assert unknown.by_precision == {}
    assert "no peak of 'NVIDIA Imaginary' is known" in unknown.basis


def test_the_rates_here_are_those_of_what_jax_would_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    from suite.hardware.accelerators import Presence

    monkeypatch.setattr(estimate, "cpu_rates", lambda: Rates({}, "cpu"))
    monkeypatch.setattr("suite.hardware.accelerators.present", lambda: [Presence("cuda", "Tesla T4", "x")])
    assert "Tesla T4" in estimate.rates_here(None).basis
    assert "Tesla T4" in estimate.rates_here("gpu").basis
    assert estimate.rates_here("cpu").basis == "cpu"
    monkeypatch.setattr("suite.hardware.accelerators.present", list)
    assert estimate.rates_here(None).basis == "cpu"
