"""Hand-made runs for the golden texts: every status, every kind of gap."""

from __future__ import annotations

from suite.analysis.summary import fold
from suite.record.schema import Checks, Compile, Conditions, Memory, ResultFile
from tests.builders import STEPS_MS, case, failure, header, outcome, process, work

MLP = case()
GPT = case("gpt", preset="gpt2-124m", precision="bf16", layers="scan", params={"sequence": 1024})
OWN = case("net:tiny", preset="own", mode="own", precision="own", batch=None, layers="own", path="call")
BIG = case("linear", preset="10k", mode="infer", batch=1000)
LATE = case("resnet", preset="resnet18")


def mixed_run() -> ResultFile:
    """An interrupted run: one case whole, one broken off, one of a user's, one out of memory, one late."""
    head = header(MLP, GPT, OWN, BIG, LATE)
    head.sources[OWN.key] = "net.py:tiny"
    called = Compile(trace_ns=None, lower_ns=None, compile_ns=None, first_call_ns=40_000_000, cache="call")
    own = {
        "compile": called,
        "memory": Memory(reason="a function run as it is gives no peak on macOS"),
        "checks": Checks(finite=True, reference_reason="a workload of your own has no reference"),
    }
    nothing = work(
        flops=None, flops_terms={}, flops_source=None, flops_reason="not given", items=None, item=None
    )
    crash = failure(
        2, traceback='Traceback (most recent call last):\n  File "net.py", line 3\nBoom: [red]\x1b[31m\n'
    )
    oom = failure(
        0, status="oom", stage="first_call", reason="RESOURCE_EXHAUSTED: wanted 8.00 GiB\nmore lines"
    )
    busy = Conditions(load_average_before=5.5, load_average_after=6.1, steady=False)
    outcomes = [
        *(outcome(MLP, process(n, step_ms)) for n, step_ms in enumerate(STEPS_MS)),
        outcome(GPT, process(0, 812.0, steps=1, conditions=busy)),
        outcome(GPT, process(1, 950.0, steps=1)),
        outcome(GPT, crash),
        *(outcome(OWN, process(n, 0.0123, steps=4100, **own), work=nothing) for n in range(7)),
        outcome(BIG, oom),
    ]
    return fold(head, outcomes, "interrupted", "2026-01-31T12:20:00Z")
