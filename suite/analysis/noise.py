"""`jaxmark noise`: how much whole runs of one case differ when nothing has changed.

Processes of one run share the hour: temperature, neighbours, where the memory lies. An interval
over them knows nothing of the next hour. The floor is the 95th percentile of |log ratio| between
whole runs at different times; a change below it is what the machine does by itself.

A comparison of m cases draws m such differences, and the largest of many exceeds a 95th
percentile nearly always. So a verdict also asks the estimate to be beyond the limit that the
difference between two new runs keeps to with probability 1 - 0.05 / m. By Student's t, with
standard deviation s over n earlier runs, that is t(1 - 0.025 / m, n - 1) * sqrt(2) * s.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from suite.analysis.identity import devices, same_machine, software_differences
from suite.analysis.intervals import LEAST_PROCESSES
from suite.analysis.metrics import METRICS, Metric, figures
from suite.analysis.sides import Side, Source
from suite.analysis.stats import percentile
from suite.analysis.student import quantile
from suite.analysis.verdict import FAMILY_ERROR, Margin, measured_margin
from suite.errors import ConfigError
from suite.record import floors
from suite.record.floors import Floor
from suite.record.schema import Machine, Result

LEAST_RUNS = 7
"""They make 21 pairs: the fewest of which one in twenty can lie beyond a 95th percentile."""


@dataclass(frozen=True)
class Noise:
    """What a set of runs says of a machine's noise.

    Attributes:
        machine: that all of them ran on.
        floors: by case and metric.
        runs: that count.
        left_out: runs and cases that do not, and why.
    """

    machine: Machine
    floors: tuple[Floor, ...]
    runs: tuple[Source, ...]
    left_out: tuple[str, ...]


def measure(sources: Sequence[Source]) -> Noise:
    """Finds the floors of every case that enough runs have measured.

    Args:
        sources: whole runs.

    Raises:
        ConfigError: runs of several machines, at the same time, or too few of any case.
    """
    whole = [source for source in sources if source.file.run.paired is None]
    if not whole:
        raise ConfigError(
            f"A noise floor needs {LEAST_RUNS} runs of `jaxmark run`, each with its own hour; found only "
            "sides of `jaxmark ab`, which share theirs."
        )
    _refuse_machines(whole)
    runs, left_out = _alike(whole)
    left_out += [f"{source.path}: a side of `jaxmark ab`" for source in sources if source not in whole]
    _refuse_overlap(runs)
    found: list[Floor] = []
    for key in dict.fromkeys(result.key for source in runs for result in source.file.results):
        counted = [source for source in runs if _counts(source, key)]
        if len(counted) < LEAST_RUNS:
            left_out.append(
                f"{key}: needs {LEAST_RUNS} runs of {LEAST_PROCESSES} processes or more, "
                f"found {len(counted)} among {len(runs)}"
            )
            continue
        found += [floor for metric in METRICS for floor in _floor(counted, key, metric)]
    if not found:
        raise ConfigError(
            f"A noise floor needs {LEAST_RUNS} whole runs of a case, at different times, with one set of "
            f"software and {LEAST_PROCESSES} processes or more. Found: {'; '.join(left_out[:3])}."
        )
    return Noise(runs[-1].file.environment.machine, tuple(found), tuple(runs), tuple(left_out))


def floor_from(key: str, metric: str, logs: Sequence[float], first_at: str, last_at: str) -> Floor:
    """The floor of one case and metric.

    Args:
        key: of the case.
        metric: its name.
        logs: logarithm of the figure of each run.
        first_at: start of the earliest run.
        last_at: start of the latest.
    """
    return Floor(
        key=key,
        metric=metric,
        runs=len(logs),
        p95=percentile(list(_differences(logs)), 95),
        deviation=_deviation(logs),
        first_run_at=first_at,
        last_run_at=last_at,
    )


def limit(floor: Floor, verdicts: int) -> float:
    """How far two runs of the same thing differ at most, for so many verdicts at once, as a fraction."""
    t = quantile(1 - FAMILY_ERROR / max(1, verdicts) / 2, floor.runs - 1)
    return math.expm1(t * math.sqrt(2) * floor.deviation)


def margin(floor: Floor, verdicts: int, threshold: float, platform: str) -> Margin:
    """What a verdict is held against, given the floor of its machine and case."""
    return measured_margin(threshold, math.expm1(floor.p95), limit(floor, verdicts), floor.runs, platform)


def known_floors(sides: Sequence[Side], metric: Metric) -> dict[str, Floor]:
    """The floors of the first side's machine: those kept here, else the newest in its files.

    Args:
        sides: of a comparison; files of that machine on any side count.
        metric: that is compared.

    Returns:
        Case key -> floor.

    Raises:
        StorageError: floors are kept here and cannot be read.
    """
    machine = sides[0].environment.machine
    files = [source.file for side in sides for source in side.sources]
    stored = [
        floor for file in files if same_machine(machine, file.environment.machine) for floor in file.floors
    ]
    stored.sort(key=lambda floor: _time(floor.last_run_at))
    return {floor.key: floor for floor in (*stored, *floors.load(machine)) if floor.metric == metric}


def _refuse_machines(sources: Sequence[Source]) -> None:
    first = sources[0]
    for source in sources[1:]:
        before, after = first.file.environment.machine, source.file.environment.machine
        if not same_machine(before, after):
            raise ConfigError(
                f"A noise floor belongs to one machine. {first.path} is of {before.machine_id} "
                f"({devices(before)}), {source.path} of {after.machine_id} ({devices(after)}). "
                "Name the files of one machine."
            )


def _alike(sources: Sequence[Source]) -> tuple[list[Source], list[str]]:
    """The largest group of runs with equal software, oldest first; why the others do not count."""
    groups: list[list[Source]] = []
    for source in sorted(sources, key=lambda source: source.file.run.started_at):
        for group in groups:
            if not software_differences([group[0].file], [source.file]):
                group.append(source)
                break
        else:
            groups.append([source])
    largest = max(reversed(groups), key=len)
    left_out = []
    for group in groups:
        if group is not largest:
            differences = software_differences([largest[0].file], [group[0].file])
            said = ", ".join(f"{d.field} {d.new} instead of {d.base}" for d in differences[:3])
            left_out += [f"{source.path}: {said}" for source in group]
    return largest, left_out


def _refuse_overlap(runs: Sequence[Source]) -> None:
    for earlier, later in itertools.pairwise(runs):
        ended = earlier.file.run.finished_at
        if ended is None:
            raise ConfigError(f"{earlier.path} is not finished; a noise floor needs whole runs.")
        if _time(later.file.run.started_at) < _time(ended):
            raise ConfigError(
                f"{later.path} began at {later.file.run.started_at}, before {earlier.path} ended at {ended}. "
                "Runs at the same time slow each other; a noise floor needs runs at different times."
            )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _counts(source: Source, key: str) -> bool:
    return any(
        result.key == key and result.status == "ok" and len(result.processes) >= LEAST_PROCESSES
        for result in source.file.results
    )


def _floor(runs: Sequence[Source], key: str, metric: Metric) -> Iterator[Floor]:
    """One floor, or none where some run has no such figure or another method."""
    found = [figures(_result(source, key), metric) for source in runs]
    if any(not figure.values for figure in found) or len({figure.method for figure in found}) > 1:
        return
    logs = [math.log(middle) for figure in found if (middle := figure.middle) is not None]
    yield floor_from(key, metric, logs, runs[0].file.run.started_at, runs[-1].file.run.started_at)


def _result(source: Source, key: str) -> Result:
    return next(result for result in source.file.results if result.key == key)


def _differences(logs: Sequence[float]) -> Iterator[float]:
    return (abs(a - b) for a, b in itertools.combinations(logs, 2))


def _deviation(logs: Iterable[float]) -> float:
    values = list(logs)
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
