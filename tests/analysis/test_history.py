"""One machine over time: what goes into a series, and what is said of its changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from suite.analysis.history import History, history
from suite.analysis.index import listing
from suite.errors import ConfigError
from suite.record.paired import Paired
from suite.record.schema import Environment
from suite.spec.case import Case
from tests.builders import STEPS_MS, case, environment, failure, memory, process
from tests.scale.folder import make_folder
from tests.sides import Cases, gpu, newer, run_file, scaled

GPT = case("gpt", preset="char")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def at(day: int) -> str:
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(folder: Path, day: int, cases: Cases, place: Environment | None = None, **changes: Any) -> str:
    name = f"{len(list(folder.glob('**/*.json'))):03d}"
    return run_file(folder / f"{name}.json", cases, place, **{"started_at": at(day)} | changes)


def wobble(day: int) -> float:
    """A factor that differs from day to day by up to 1.2%."""
    return 1 + 0.001 * (day * 5 % 13)


def days(folder: Path, count: int, of: Case, slower_from: int, factor: float, place: Environment) -> None:
    """A run a day; from a day on with other software, and slower."""
    for day in range(count):
        late = day >= slower_from
        steps = scaled(STEPS_MS, wobble(day) * (factor if late else 1))
        write(folder, day, [(of, steps)], place if late else None)


def only(found: History) -> Any:
    (section,) = found.sections
    (series,) = section.series
    return series


def test_a_change_is_told_with_the_software_that_changed_there(tmp_path: Path) -> None:
    days(tmp_path, 20, case(), 12, 1.2, newer())
    series = only(history([str(tmp_path)]))
    assert len(series.values) == 20
    assert series.values[0] == pytest.approx(4.15e6)
    (found,) = series.changes
    assert found.change.at == 12
    assert [(d.field, d.base, d.new) for d in found.differences] == [
        ("jax", "0.10.2", "0.12.0.1"),
        ("jaxlib", "0.10.2", "0.12.0.1"),
    ]
    assert found.runs_away == 0


def test_flags_are_software_and_no_other_field_is_named(tmp_path: Path) -> None:
    flags = newer(variables={"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_x"})
    days(tmp_path, 20, case(), 10, 0.7, flags)
    (found,) = only(history([str(tmp_path)])).changes
    assert found.change.shift < 0
    assert [(d.field, d.base, d.new) for d in found.differences] == [("XLA_FLAGS", "not set", "--xla_x")]


def test_software_that_changed_nearby_is_named_as_such(tmp_path: Path) -> None:
    for day in range(24):
        steps = scaled(STEPS_MS, wobble(day) * (1.2 if day >= 12 else 1))
        write(tmp_path, day, [(case(), steps)], newer() if day >= 14 else None)
    (found,) = only(history([str(tmp_path)])).changes
    assert (found.change.at, found.runs_away) == (12, 2)
    assert found.differences


def test_a_change_without_any_says_nothing_of_software(tmp_path: Path) -> None:
    days(tmp_path, 20, case(), 10, 1.2, environment())
    (found,) = only(history([str(tmp_path)])).changes
    assert found.differences == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"batch": 16},
        {"precision": "bf16"},
        {"prng": "rbg"},
        {"layers": "scan"},
        {"version": 2},
        {"mesh": "d=2"},
    ],
)
def test_another_case_is_another_series(tmp_path: Path, changes: dict[str, Any]) -> None:
    for day in range(24):
        of = case() if day < 12 else case(**changes)
        write(tmp_path, day, [(of, scaled(STEPS_MS, wobble(day) * (1 if day < 12 else 3)))])
    (section,) = history([str(tmp_path)]).sections
    assert [(series.key, len(series.values), series.changes) for series in section.series] == [
        (case().key, 12, ()),
        (case(**changes).key, 12, ()),
    ]


@pytest.mark.parametrize(
    "place",
    [gpu(), environment(device_count=2), environment(machine_id="m-other"), environment(ram_bytes=2**40)],
)
def test_another_machine_is_another_section(tmp_path: Path, place: Environment) -> None:
    for day in range(24):
        write(tmp_path, day, [(case(), scaled(STEPS_MS, wobble(day)))], place if day % 2 else None)
    found = history([str(tmp_path)])
    assert [len(section.runs) for section in found.sections] == [12, 12]
    assert [series.changes for series in found.series] == [(), ()]
    name = place.machine.machine_id
    chosen = history([str(tmp_path)], machine=name).sections
    assert {section.machine.machine_id for section in chosen} == {name}


def test_a_machine_whose_kernel_keeps_more_memory_is_the_same(tmp_path: Path) -> None:
    for day in range(4):
        write(tmp_path, day, [(case(), STEPS_MS)], environment(ram_bytes=8_589_934_592 - day * 10_000_000))
    (section,) = history([str(tmp_path)]).sections
    assert len(section.runs) == 4


def test_memory_by_another_method_is_another_series(tmp_path: Path) -> None:
    for day in range(6):
        method = "host_rss" if day < 3 else "host_rss_lifetime"
        write(tmp_path, day, [(case(), [process(n, memory=memory(method=method)) for n in range(7)])])
    (section,) = history([str(tmp_path)], "memory").sections
    assert [(s.method, len(s.values)) for s in section.series] == [("host_rss", 3), ("host_rss_lifetime", 3)]
    assert len(only(history([str(tmp_path)], "compile")).values) == 6


def test_failed_and_skipped_cases_have_no_figure(tmp_path: Path) -> None:
    write(tmp_path, 0, [(case(), STEPS_MS)])
    write(tmp_path, 1, [(case(), [*STEPS_MS[:6], failure(6, status="oom")])])
    write(tmp_path, 2, [(case(), [])])
    write(tmp_path, 3, [(case(), [failure()])])
    series = only(history([str(tmp_path)]))
    assert (list(series.runs), series.failures) == ([0], {"oom": 1, "crashed": 1})


def test_runs_are_in_the_order_of_their_start_and_count_once(tmp_path: Path) -> None:
    write(tmp_path, 1, [(case(), STEPS_MS)], id="b")
    write(tmp_path, 0, [(case(), STEPS_MS)], id="a")
    write(tmp_path / "copy", 1, [(case(), STEPS_MS)], id="b")
    found = history([str(tmp_path)])
    assert [run.id for run in found.sections[0].runs] == ["a", "b"]
    assert "the same run as" in found.skipped[0]


def test_cases_and_machines_are_chosen_by_name_or_glob(tmp_path: Path) -> None:
    write(tmp_path, 0, [(case(), STEPS_MS), (GPT, STEPS_MS)])
    assert [s.key for s in history([str(tmp_path)], case="gpt/*").series] == [GPT.key]
    assert [s.key for s in history([str(tmp_path)], case=GPT.key).series] == [GPT.key]
    with pytest.raises(ConfigError, match=r"--case: no case 'gtp/\*' in these files"):
        history([str(tmp_path)], case="gtp/*")
    with pytest.raises(ConfigError, match=r"--machine: no run of a machine 'm-x'"):
        history([str(tmp_path)], machine="m-x")


def test_two_hundred_files_are_read_once_and_changes_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `make scale` does with ten thousand; here counts, no times."""
    monkeypatch.setattr("suite.analysis.index.listing._SETTLED_NS", 0)
    make_folder(tmp_path / "runs", files=201, cases=5)
    first = history([str(tmp_path / "runs")])
    assert first.files_read == 201
    (section,) = first.sections
    assert [len(series.values) for series in section.series] == [201] * 5
    assert [[found.change.at for found in series.changes] for series in section.series] == [
        [67],
        [],
        [],
        [],
        [],
    ]
    again = history([str(tmp_path / "runs")])
    assert again.files_read == 0
    assert again.sections == first.sections
    assert [s.changes for s in history([str(tmp_path / "runs")], "memory").series] == [()] * 5


def test_sides_of_ab_are_named_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_SETTLED_NS", 0)  # so that the index has the files of a moment ago
    for day in range(3):
        write(tmp_path, day, [(case(), STEPS_MS)])
    for side, partner in (("base", "bb"), ("new", "aa")):
        paired = Paired(side=side, partner=partner, first={case().key: ["new"]})  # type: ignore[arg-type]
        run_file(tmp_path / f"{side}.json", [(case(), scaled(STEPS_MS, 10))], paired=paired)
    for files_read in (5, 0):
        found = history([str(tmp_path)])
        assert found.files_read == files_read
        assert len(only(found).values) == 3
        assert [reason.rpartition("/")[2] for reason in found.skipped] == [
            "base.json: a side of `jaxmark ab`, an experiment and no ordinary run",
            "new.json: a side of `jaxmark ab`, an experiment and no ordinary run",
        ]


def test_a_folder_of_nothing_but_sides_has_no_history(tmp_path: Path) -> None:
    run_file(tmp_path / "a.json", [(case(), STEPS_MS)], paired=Paired(side="base", partner="b", first={}))
    found = history([str(tmp_path)])
    assert (found.sections, len(found.skipped)) == ((), 1)
