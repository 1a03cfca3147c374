"""Noise floors from hand-made runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from suite.analysis.noise import LEAST_RUNS, Noise, floor_from, limit, margin, measure
from suite.analysis.sides import Source, gather
from suite.errors import ConfigError
from suite.record.environment import Environment
from suite.record.floors import Floor
from suite.record.paired import Paired
from tests.builders import case, environment, failure, memory, process
from tests.sides import Cases, newer, run_of

LEVELS = (1.00, 1.02, 0.98, 1.01, 0.99, 1.03, 1.00, 0.97)
OTHER = case("gpt", preset="char")


def run_at(
    number: int, cases: Cases, place: Environment | None = None, hours: float = 0.5, **changes: Any
) -> Source:
    """A run that began on day `number` at noon and took `hours`."""
    day = f"2026-01-{number + 1:02d}"
    file = run_of(cases, place, **{"id": f"r{number}", "started_at": f"{day}T12:00:00Z"} | changes)
    file.run.finished_at = f"{day}T{12 + int(hours):02d}:{int(hours % 1 * 60):02d}:00Z"
    return Source(Path(f"r{number}.json"), file)


def runs(levels: tuple[float, ...] = LEVELS) -> list[Source]:
    return [run_at(n, [(case(), [4.0 * level] * 5)]) for n, level in enumerate(levels)]


def floor_of(noise: Noise, metric: str = "step_time") -> Floor:
    return next(floor for floor in noise.floors if floor.metric == metric)


def test_a_floor_by_hand() -> None:
    noise = measure(runs())
    floor = floor_of(noise)
    logs = np.log(LEVELS)
    pairs = np.abs(np.subtract.outer(logs, logs))[np.triu_indices(8, 1)]
    assert floor.p95 == pytest.approx(np.percentile(pairs, 95), rel=1e-9)
    assert floor.deviation == pytest.approx(np.std(logs, ddof=1), rel=1e-9)
    assert (floor.key, floor.runs) == (case().key, 8)
    assert (floor.first_run_at, floor.last_run_at) == ("2026-01-01T12:00:00Z", "2026-01-08T12:00:00Z")
    assert {f.metric for f in noise.floors} == {"step_time", "latency", "tail", "memory", "compile"}
    assert floor_of(noise, "memory").p95 == 0
    assert noise.left_out == ()


@pytest.mark.parametrize("verdicts", [1, 10, 200])
def test_the_limit_is_the_prediction_of_students_t(verdicts: int) -> None:
    floor = floor_of(measure(runs()))
    t = scipy_stats.t.ppf(1 - 0.025 / verdicts, 7)
    expected = math.expm1(t * math.sqrt(2) * floor.deviation)
    assert limit(floor, verdicts) == pytest.approx(expected, rel=1e-9)
    found = margin(floor, verdicts, 0.01, "cpu")
    assert (found.source, found.runs) == ("measured", 8)
    assert found.fraction == pytest.approx(math.expm1(floor.p95), rel=1e-9)
    assert found.limit == pytest.approx(expected, rel=1e-9)


def test_with_many_runs_and_one_case_the_limit_is_the_floor() -> None:
    logs = np.random.default_rng(0).normal(0, 0.02, 300).tolist()
    floor = floor_from("k", "step_time", logs, "", "")
    assert limit(floor, 1) == pytest.approx(math.expm1(floor.p95), rel=0.05)


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ConfigError, match=rf"needs {LEAST_RUNS} whole runs of a case.*found 6"):
        measure(runs(LEVELS[:6]))
    assert floor_of(measure(runs(LEVELS[:7]))).runs == 7


def test_a_case_of_too_few_runs_is_left_out() -> None:
    sources = [run_at(n, [(case(), [4.0] * 5), (OTHER, [4.0] * (5 if n < 6 else 4))]) for n in range(7)]
    noise = measure(sources)
    assert {floor.key for floor in noise.floors} == {case().key}
    assert noise.left_out == (f"{OTHER.key}: needs 7 runs of 5 processes or more, found 6 among 7",)


def test_a_failed_run_of_a_case_does_not_count() -> None:
    sources = [run_at(n, [(case(), [4.0] * 5 + ([failure(5)] if n == 0 else []))]) for n in range(7)]
    with pytest.raises(ConfigError, match="found 6"):
        measure(sources)


def test_runs_with_other_software_do_not_count() -> None:
    sources = runs((*LEVELS, 1.5, 1.6))
    for source in sources[-2:]:
        source.file.environment = newer(jax="0.12.0.1")
    noise = measure(sources)
    assert floor_of(noise).runs == 8
    assert noise.left_out == (
        "r8.json: jax 0.12.0.1 instead of 0.10.2",
        "r9.json: jax 0.12.0.1 instead of 0.10.2",
    )


def test_runs_of_several_machines_are_refused() -> None:
    sources = runs()
    sources[3].file.environment = environment(machine_id="m-other")
    with pytest.raises(ConfigError, match=r"belongs to one machine.*r3\.json of m-other"):
        measure(sources)


def test_runs_at_the_same_time_are_refused() -> None:
    sources = runs()
    sources[2].file.run.finished_at = "2026-01-04T12:05:00Z"
    with pytest.raises(ConfigError, match=r"r3\.json began at 2026-01-04T12:00:00Z, before r2\.json ended"):
        measure(sources)
    sources[2].file.run.finished_at = None
    with pytest.raises(ConfigError, match=r"r2\.json is not finished"):
        measure(sources)


def test_memory_by_several_methods_has_no_floor() -> None:
    sources = [
        run_at(
            n, [(case(), [process(k, memory=memory(method="static" if n else "host_rss")) for k in range(5)])]
        )
        for n in range(7)
    ]
    assert "memory" not in {floor.metric for floor in measure(sources).floors}


def test_one_run_twice_is_refused(tmp_path: Path) -> None:
    from tests.sides import run_file

    a = run_file(tmp_path / "a.json", [(case(), [4.0] * 5)])
    with pytest.raises(ConfigError, match="the same file"):
        gather([a, str(tmp_path)])


def test_sides_of_pairs_share_their_hour_and_do_not_count() -> None:
    paired = Paired(side="base", partner="bb", first={case().key: ["new"]})
    side = run_at(3, [(case(), [40.0] * 8)], id="aa", paired=paired)
    noise = measure([*runs(), side])
    assert floor_of(noise).runs == len(LEVELS)
    assert noise.left_out == ("r3.json: a side of `jaxmark ab`",)
    with pytest.raises(ConfigError, match="found only sides of `jaxmark ab`"):
        measure([side])


def test_machines_are_named_also_where_nobody_counted_their_devices() -> None:
    imported = environment(machine_id="node-1", device_kind="unknown", device_count=None)
    sources = [run_at(0, [(case(), [4.0] * 5)]), run_at(1, [(case(), [4.0] * 5)], imported)]
    with pytest.raises(
        ConfigError, match=r"\(1 x .*\), .* of node-1 \(unknown\)\. Name the files of one machine"
    ):
        measure(sources)
