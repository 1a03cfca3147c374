"""Hand-made records for tests: small, valid, and with figures that can be worked out by head.

Every function takes overrides by keyword, so that a test states only what it is about:

    process(2, step_ms=4.0)             a process of round 2 whose steps all took 4 ms
    failure(1, status="oom")            a process that ran out of memory
    outcome(case(), process(0))         what a worker sends back
    header(case(), case(batch=16))      a run of two cases
    result_file()                       a finished run of one case and seven processes
"""

from __future__ import annotations

from typing import Any

import msgspec

from suite.analysis.summary import fold
from suite.record.schema import (
    SCHEMA_VERSION,
    Checks,
    Compile,
    Conditions,
    Environment,
    Failure,
    HostRss,
    JournalHeader,
    Machine,
    Memory,
    Outcome,
    Process,
    ReferenceCheck,
    ResultFile,
    Run,
    Software,
    StaticMemory,
    Volatile,
    Work,
)
from suite.spec.case import Case
from suite.spec.settings import MeasureSettings

STEPS_MS = (4.0, 4.1, 4.2, 4.3, 4.15, 4.05, 4.25)
"""Step times of the seven processes of `result_file`: median 4.15, spread 7.5%."""


def case(workload: str = "mlp", **changes: Any) -> Case:
    """A training case of the catalogue's shape."""
    fields: dict[str, Any] = {
        "workload": workload,
        "version": 1,
        "preset": "smoke",
        "mode": "train",
        "precision": "fp32",
        "batch": 8,
        "layers": "unroll",
    }
    return Case(**fields | changes)


def process(index: int = 0, step_ms: float = 4.0, steps: int = 10, **changes: Any) -> Process:
    """A process whose steps all took `step_ms`: 20 blocks of `steps`, 30 single steps."""
    block = round(step_ms * 1e6 * steps)
    fields: dict[str, Any] = {
        "index": index,
        "started_at": started_at(index),
        "duration_s": 60.0,
        "init_ns": 30_000_000,
        "compile": Compile(
            trace_ns=200_000_000,
            lower_ns=100_000_000,
            compile_ns=700_000_000,
            first_call_ns=9_000_000,
            cache="cold",
        ),
        "warmup_ns": [block * 2, block],
        "warmup_steps": [steps, steps],
        "block_steps": steps,
        "block_ns": [block] * 20,
        "latency_ns": None if steps == 1 else [round(step_ms * 1.1e6)] * 30,
        "memory": memory(),
        "checks": Checks(
            finite=True,
            losses=[2.5, 2.4, 2.3, 2.2, 2.1],
            loss_falls=True,
            reference=ReferenceCheck(
                preset="smoke", loss_error=1e-6, output_error=2e-6, tolerance=1e-4, passed=True
            ),
        ),
        "conditions": Conditions(load_average_before=0.4, load_average_after=1.9),
    }
    return Process(**fields | changes)


def started_at(index: int) -> str:
    """A process a minute."""
    return f"2026-01-31T{12 + index // 60:02d}:{index % 60:02d}:00Z"


def memory(peak_bytes: int | None = 512_000_000, **changes: Any) -> Memory:
    """Memory read from the resident set of a CPU worker."""
    fields: dict[str, Any] = {
        "static": StaticMemory(
            argument_bytes=100_000_000,
            output_bytes=100_000_000,
            temp_bytes=300_000_000,
            alias_bytes=90_000_000,
            code_bytes=0,
            total_bytes=410_000_000,
        ),
        "host_rss": HostRss(
            baseline_bytes=200_000_000,
            live_array_bytes=100_000_000,
            high_water_bytes=712_000_000,
            compile_high_water_bytes=900_000_000,
        ),
        "peak_bytes": peak_bytes,
        "method": "host_rss",
    }
    return Memory(**fields | changes)


def failure(index: int = 0, **changes: Any) -> Failure:
    """A process that was killed by a signal while it timed blocks."""
    fields: dict[str, Any] = {
        "index": index,
        "started_at": started_at(index),
        "duration_s": 3.0,
        "status": "crashed",
        "stage": "blocks",
        "reason": "the worker was killed by SIGSEGV",
    }
    return Failure(**fields | changes)


def work(**changes: Any) -> Work:
    """12 GFLOP and 8 samples a step."""
    fields: dict[str, Any] = {
        "flops": 12_000_000_000,
        "flops_terms": {"forward": 4_000_000_000, "gradient": 8_000_000_000},
        "flops_source": "analytic",
        "xla_flops": 12_100_000_000.0,
        "bytes_min": 64_000_000,
        "items": 8,
        "item": "sample",
        "parameters": 1_250_000,
    }
    return Work(**fields | changes)


def outcome(of: Case, part: Process | Failure, **changes: Any) -> Outcome:
    """What a worker that measured `of` sent back."""
    fields: dict[str, Any] = {
        "key": of.key,
        "index": part.index,
        "process": part if isinstance(part, Process) else None,
        "failure": part if isinstance(part, Failure) else None,
        "work": work() if isinstance(part, Process) else None,
    }
    return Outcome(**fields | changes)


def run(**changes: Any) -> Run:
    """A run that is still going on."""
    fields: dict[str, Any] = {
        "id": "0badcafe",
        "config": "quick",
        "config_sha256": "ab" * 32,
        "started_at": "2026-01-31T12:00:00Z",
        "finished_at": None,
        "state": "running",
        "command": ["jaxmark", "run", "quick"],
        "suite_version": "0.1.0",
        "git": None,
        "processes_planned": 7,
        "timeout_s": 600.0,
        "seed": 0,
        "compile_cache": "cold",
        "settings": MeasureSettings(),
    }
    return Run(**fields | changes)


def machine(**changes: Any) -> Machine:
    """A two-core CPU."""
    fields: dict[str, Any] = {
        "machine_id": "m-0123456789abcdef",
        "platform": "cpu",
        "device_kind": "cpu",
        "device_count": 1,
        "device_memory_bytes": None,
        "compute_capability": None,
        "cpu_model": "Example CPU @ 2.50GHz",
        "cpu_cores_available": 2,
        "cpu_cores_total": 4,
        "last_level_cache_bytes": 33_554_432,
        "ram_bytes": 8_589_934_592,
        "os": "Linux 6.1",
        "architecture": "x86_64",
    }
    return Machine(**fields | changes)


def environment(**changes: Any) -> Environment:
    """Keyword arguments go to the machine."""
    return Environment(
        machine=machine(**changes),
        software=Software(
            python="3.12.1",
            jax="0.10.2",
            jaxlib="0.10.2",
            flax="0.12.8",
            optax="0.2.6",
            numpy="2.3.0",
            platform_version=None,
            driver=None,
            plugins={},
            variables={"JAX_PLATFORMS": "cpu"},
        ),
        volatile=Volatile(
            load_average=0.3, cpu_mhz=2500.0, ram_available_bytes=6_000_000_000, memory_limit_bytes=None
        ),
    )


def header(*cases: Case, **changes: Any) -> JournalHeader:
    """The header of a run of `cases` (one by default); keyword arguments go to the run."""
    return JournalHeader(
        schema_version=SCHEMA_VERSION,
        run=run(**changes),
        environment=environment(),
        cases=list(cases) or [case()],
    )


def result_file(**changes: Any) -> ResultFile:
    """A finished run of one case, seven processes of `STEPS_MS`; keyword arguments go to the run."""
    outcomes = [outcome(case(), process(n, step_ms)) for n, step_ms in enumerate(STEPS_MS)]
    return fold(header(**changes), outcomes, "complete", "2026-01-31T12:10:00Z")


def document(file: ResultFile) -> dict[str, Any]:
    """The file as plain JSON types, for tests that break it."""
    converted: dict[str, Any] = msgspec.to_builtins(file)
    return converted
