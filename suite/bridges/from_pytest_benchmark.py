"""pytest-benchmark's JSON as a result file: what it says, and null for what it does not.

All its rounds come from one process, so an imported benchmark is one process, and a comparison
says that it needs more. Only `jaxmark export` writes a round for each process; those come back as
the processes that they were, under the case and the machine that they were measured on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

import suite
from suite.analysis.summary import fold
from suite.bridges.pytest_benchmark import OURS
from suite.errors import ResultFileError
from suite.record.environment import Environment, Machine, Software, Volatile
from suite.record.process import Checks, Compile, Conditions, Memory, Process
from suite.record.schema import SCHEMA_VERSION, JournalHeader, Outcome, ResultFile, Run, Work
from suite.spec.case import Case
from suite.spec.settings import MeasureSettings

_UNKNOWN = "unknown"
_NO_DATA = (
    "its rounds are not in the file; pytest-benchmark keeps them with --benchmark-save-data, or with "
    "--benchmark-json"
)
_MOST_NS = 3.2e18
"""A century; samples are whole nanoseconds, of which a signed 64-bit number holds three."""


class _Stats(msgspec.Struct):
    iterations: int
    rounds: int
    data: list[float] | None = None


class _Benchmark(msgspec.Struct):
    fullname: str
    stats: _Stats
    extra_info: dict[str, Any] = {}


class _Commit(msgspec.Struct):
    id: str | None = None
    dirty: bool | None = None


class _Document(msgspec.Struct):
    machine_info: dict[str, Any]
    benchmarks: list[_Benchmark]
    datetime: str
    version: str
    commit_info: _Commit = msgspec.field(default_factory=_Commit)


class _Ours(msgspec.Struct):
    machine: Machine
    software: Software


class _OurCase(msgspec.Struct):
    case: Case
    work: Work | None = None


def read(data: bytes, where: str) -> tuple[ResultFile | None, list[str]]:
    """Reads pytest-benchmark's JSON.

    Args:
        data: content of the file.
        where: its name, for messages.

    Returns:
        A result file, or None where no benchmark has its rounds; and what was left out, with the reason.

    Raises:
        ResultFileError: it is not what pytest-benchmark writes.
    """
    document, started, environment = _decode(data, where)
    outcomes: list[Outcome] = []
    cases: dict[str, Case] = {}
    left_out = []
    for benchmark in document.benchmarks:
        made = _case(benchmark, where)
        if (reason := _refusal(benchmark, made.case.key in cases)) is not None:
            left_out.append(f"{benchmark.fullname}: {reason}")
            continue
        cases[made.case.key] = made.case
        outcomes += _outcomes(benchmark, made, started)
    if not cases:
        return None, left_out
    header = JournalHeader(
        schema_version=SCHEMA_VERSION,
        run=_run(document, data, started, max(outcome.index for outcome in outcomes) + 1),
        environment=environment,
        cases=list(cases.values()),
    )
    return fold(header, outcomes, "complete", started), left_out


def _decode(data: bytes, where: str) -> tuple[_Document, str, Environment]:
    """The document, its time and its machine."""
    try:
        document = msgspec.json.decode(data, type=_Document)
        return document, _moment(document.datetime), _environment(document.machine_info)
    except (msgspec.DecodeError, ValueError) as error:
        raise ResultFileError(
            f"{where}: expected what pytest-benchmark 4 or newer writes: {error}."
        ) from error


def _moment(text: str) -> str:
    """The time as result files have it. Without a zone it is UTC, as pytest-benchmark means it."""
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _refusal(benchmark: _Benchmark, twice: bool) -> str | None:
    """Why a benchmark cannot be imported."""
    data, iterations = benchmark.stats.data, benchmark.stats.iterations
    if twice:
        return "it is there twice"
    if not data:
        return _NO_DATA
    if iterations < 1:
        return f"expected an iteration or more in each round, found {iterations}"
    if (odd := next((s for s in data if not 0.5 < s * iterations * 1e9 < _MOST_NS), None)) is not None:
        return f"expected rounds that took from a nanosecond to a century, found one of {odd} s"
    return None


def _case(benchmark: _Benchmark, where: str) -> _OurCase:
    """The case that we exported; else the benchmark's name, and a user's own function otherwise."""
    if (ours := benchmark.extra_info.get(OURS)) is not None:
        try:
            return msgspec.convert(ours, _OurCase)
        except msgspec.ValidationError as error:
            raise ResultFileError(
                f"{where}: {benchmark.fullname}: expected what `jaxmark export` writes under {OURS!r}, "
                f"found {error}."
            ) from error
    case = Case(
        # A slash separates the fields of a key.
        workload=benchmark.fullname.replace("/", "."),
        version=1,
        preset="own",
        mode="own",
        precision="own",
        batch=None,
        layers="own",
        path="call",
    )
    return _OurCase(case)


def _outcomes(benchmark: _Benchmark, made: _OurCase, started: str) -> Iterator[Outcome]:
    steps, data = benchmark.stats.iterations, benchmark.stats.data or []
    blocks = [round(seconds * steps * 1e9) for seconds in data]
    ours = OURS in benchmark.extra_info
    for index, samples in enumerate([[block] for block in blocks] if ours else [blocks]):
        process = _process(index, steps, samples, started)
        yield Outcome(key=made.case.key, index=index, process=process, work=made.work)


def _process(index: int, steps: int, blocks: Sequence[int], started: str) -> Process:
    return Process(
        index=index,
        started_at=started,
        duration_s=sum(blocks) / 1e9,
        init_ns=None,
        compile=Compile(trace_ns=None, lower_ns=None, compile_ns=None, first_call_ns=None, cache="call"),
        warmup_ns=[],
        warmup_steps=[],
        block_steps=steps,
        block_ns=list(blocks),
        latency_ns=None,
        memory=Memory(reason="pytest-benchmark's file has no peak of memory"),
        checks=Checks(reference_reason="pytest-benchmark checks no numbers"),
        conditions=Conditions(compiled_during_measurement=None, steady=None),
    )


def _environment(info: dict[str, Any]) -> Environment:
    if (ours := info.get(OURS)) is not None:
        known = msgspec.convert(ours, _Ours)
        machine, software = known.machine, known.software
    else:
        machine, software = _machine(info), _software(info)
    nothing = Volatile(load_average=None, cpu_mhz=None, ram_available_bytes=None, memory_limit_bytes=None)
    return Environment(machine=machine, software=software, volatile=nothing)


def _machine(info: dict[str, Any]) -> Machine:
    cpu = info.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {}
    count = cpu.get("count")
    return Machine(
        # The node is a host name, which result files do without; its hash tells machines apart.
        machine_id=f"node-{hashlib.sha256(_text(info, 'node').encode()).hexdigest()[:16]}",
        platform=_UNKNOWN,
        device_kind=_UNKNOWN,
        device_count=None,
        device_memory_bytes=None,
        compute_capability=None,
        cpu_model=_text(cpu, "brand_raw") if "brand_raw" in cpu else _text(info, "processor"),
        cpu_cores_available=None,
        cpu_cores_total=count if isinstance(count, int) and count > 0 else None,
        last_level_cache_bytes=None,
        ram_bytes=None,
        os=" ".join(_text(info, name) for name in ("system", "release") if info.get(name)) or _UNKNOWN,
        architecture=_text(info, "machine"),
    )


def _software(info: dict[str, Any]) -> Software:
    return Software(
        python=_text(info, "python_version"),
        jax=None,
        jaxlib=None,
        flax=None,
        optax=None,
        numpy=None,
        platform_version=None,
        driver=None,
        plugins={},
        variables={},
    )


def _text(info: dict[str, Any], name: str) -> str:
    return str(info.get(name) or _UNKNOWN)


def _run(document: _Document, data: bytes, started: str, processes: int) -> Run:
    commit = document.commit_info
    known = commit.id not in (None, "unknown", "unversioned")
    ours = OURS in document.machine_info
    return Run(
        # Of the content: imported twice it is one run, and is not compared with itself.
        id=hashlib.sha256(data).hexdigest()[:8],
        config="pytest-benchmark",
        config_sha256=None,
        started_at=started,
        finished_at=started,
        state="complete",
        command=[],
        suite_version=suite.__version__,
        git=f"{commit.id}{'-dirty' if commit.dirty else ''}" if known else None,
        processes_planned=processes,
        timeout_s=None,
        seed=0,
        compile_cache="cold",
        settings=MeasureSettings(),
        imported_from="jaxmark export" if ours else f"pytest-benchmark {document.version}",
    )
