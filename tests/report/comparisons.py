"""Hand-made comparisons for the golden texts: every verdict, every kind of gap, several machines."""

from __future__ import annotations

from pathlib import Path

from suite.analysis.compare import Comparison, MarginOf, compare
from suite.analysis.metrics import Metric
from suite.analysis.sides import gather
from suite.analysis.verdict import Margin, assumed_margin, measured_margin
from suite.record.schema import Conditions, Memory
from tests.builders import STEPS_MS, case, environment, failure, memory, process
from tests.sides import Steps, gpu, newer, run_file, scaled

FAST = case(batch=1)
SLOW = case(batch=64)
SAME = case("linear", preset="10k", mode="infer", batch=1000)
CLOSE = case("gpt", preset="gpt2-124m", precision="bf16", layers="scan", params={"sequence": 1024})
FEW = case("gpt", preset="char", layers="scan")
BROKEN = case("resnet", preset="resnet18", batch=32)
CHANGED = case("resnet", preset="resnet50", batch=32)
GONE = case("mlp", preset="large", mode="infer")
ADDED = case("mlp", preset="own", mode="x", precision="bf16")
STEADY = (4.00, 4.01, 4.02, 3.99, 3.98, 4.03, 3.97, 4.00, 4.01, 3.99)


def one_machine(folder: Path) -> Comparison:
    """Base against newer software, and against a run that has nothing of note."""
    busy = Conditions(load_average_before=1.7, load_average_after=2.0)
    loaded = [process(n, ms, conditions=busy) for n, ms in enumerate(scaled(STEADY, 1.22))]
    oom = [failure(0, status="oom", stage="first_call", reason="RESOURCE_EXHAUSTED: wanted 8.00 GiB")]
    before_cases = [
        (FAST, STEADY), (SLOW, STEADY), (SAME, scaled(STEADY, 300)), (CLOSE, STEPS_MS), (FEW, STEADY[:3]),
        (BROKEN, STEADY), (CHANGED, STEADY), (GONE, STEADY),
    ]  # fmt: skip
    after_cases = [
        (FAST, scaled(STEADY, 0.21)), (SLOW, loaded), (SAME, scaled(STEADY, 301)),
        (CLOSE, scaled(STEPS_MS, 1.06)), (FEW, STEADY[:3]), (BROKEN, oom),
        (case("resnet", preset="resnet50", batch=64), STEADY), (ADDED, STEADY),
    ]  # fmt: skip
    a = run_file(folder / "before.json", before_cases)
    b = run_file(folder / "after.json", after_cases, newer(), started_at="2026-02-01T09:30:00Z")

    def margin_of(key: str, verdicts: int) -> Margin:
        floors = {FAST.key: 0.034, SLOW.key: 0.062}
        floor = floors.get(key)
        return (
            assumed_margin(0.05, "cpu")
            if floor is None
            else measured_margin(0.05, floor, 1.3 * floor, 9, "cpu")
        )

    return _compare([a, b], "step_time", margin_of)


def machines(folder: Path, metric: Metric = "step_time") -> Comparison:
    """A CPU against two accelerators, one of which runs out of memory, and a CPU that only looks alike."""
    allocator = Memory(peak_bytes=640_000_000, method="allocator")
    tpu = gpu(machine_id="m-v5e", platform="tpu", device_kind="TPU v5 lite")

    def on_chip(factor: float) -> Steps:
        return [process(n, ms * factor, memory=allocator) for n, ms in enumerate(STEPS_MS)]

    oom = [failure(0, status="oom", stage="first_call", reason="RESOURCE_EXHAUSTED: wanted 24.0 GiB")]
    names = [
        run_file(folder / "cpu.json", [(FAST, STEPS_MS), (SLOW, scaled(STEPS_MS, 40)), (CLOSE, [812.0])]),
        run_file(folder / "l4.json", [(FAST, on_chip(0.2)), (SLOW, on_chip(0.9)), (CLOSE, oom)], gpu()),
        run_file(folder / "v5e.json", [(FAST, on_chip(0.3)), (SLOW, on_chip(0.5))], tpu),
        run_file(
            folder / "runner.json",
            [(FAST, STEPS_MS), (SLOW, [process(n, 160.0, memory=memory(256_000_000)) for n in range(7)])],
            environment(machine_id="m-runner"),
        ),
    ]
    return assumed(names, metric)


def assumed(names: list[str], metric: Metric = "step_time") -> Comparison:
    """With no noise floor."""
    return _compare(names, metric, lambda key, verdicts: assumed_margin(0.05, "cpu"))


def _compare(names: list[str], metric: Metric, margin_of: MarginOf) -> Comparison:
    return compare(gather(names), metric, 0.05, margin_of)
