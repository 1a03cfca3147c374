"""Every smoke workload as a pytest-benchmark test: `pytest tests/benchmarks --benchmark-json=FILE`.

With `-m ""` every workload, without it four of them.

The state is threaded through the step's own object: it is donated, so a plain `benchmark(step,
state, batch)` would meet deleted arrays in its second round. `run(1)` returns when the results
are there, so the clock waits for them.
"""

from __future__ import annotations

import jax
import pytest

from suite.measurement.aot import AotStep
from suite.measurement.memory import MemoryProbe
from suite.run.subject import initial
from suite.spec import catalogue
from suite.workloads import build

CASES = [
    catalogue.resolve(spec.name, preset="smoke", mode=mode, precision="fp32")
    for spec in catalogue.all_specs()
    for mode in spec.modes
]


# `make test` has five minutes; these stand for the others there.
IN_MAKE_TEST = ("linear", "mlp", "resnet", "gpt")
MARKED = [
    pytest.param(case, id=case.key, marks=() if case.workload in IN_MAKE_TEST else pytest.mark.slow)
    for case in CASES
]


@pytest.mark.parametrize("case", MARKED)
def test_step(benchmark, case) -> None:
    workload = build(case)
    memory = MemoryProbe(jax.devices()[0])
    state, batch = initial(workload, seed=0)
    memory.before_compile()
    step = AotStep(workload.step, state, batch)
    memory.after_compile()
    step.run(1)
    peak = memory.measure(step)
    times = step.program.compile
    benchmark.extra_info.update(
        case=case.key,
        peak_bytes=peak.peak_bytes,
        peak_method=peak.method,
        compile_ms=(times.trace_ns + times.lower_ns + times.compile_ns) / 1e6,
    )
    benchmark(step.run, 1)
    assert jax.tree.leaves(step.outputs())
