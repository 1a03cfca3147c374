"""What stands beside a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suite.record.schema import Conditions
from tests.analysis.comparing import both, compared, only_row
from tests.builders import STEPS_MS, case, process
from tests.sides import Cases, run_file


def codes(tmp_path: Path, before: Cases, after: Cases, **how: Any) -> list[str]:
    row = only_row(both(tmp_path, before, after, **how))
    return [note.code for note in row.notes]


def test_a_quiet_pair_has_none(tmp_path: Path) -> None:
    assert codes(tmp_path, [(case(), STEPS_MS)], [(case(), STEPS_MS)]) == []


def test_what_the_runs_said(tmp_path: Path) -> None:
    busy = Conditions(load_average_before=0.4, steady=False)
    after = [process(n, ms, conditions=busy) for n, ms in enumerate((4.0, 4.1, 4.2, 4.3, 4.1, 4.0, 6.0))]
    assert codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)]) == ["not_steady", "spread"]
    assert codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)], metric="memory") == []


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("load_differs", {"conditions": Conditions(load_average_before=1.6)}),
        ("heavier_tail", {"latency_ns": [4_400_000] * 27 + [9_000_000] * 3}),
        ("autocorrelation", {"block_ns": [40_000_000 + 10_000 * n for n in range(20)]}),
    ],
)
def test_what_the_two_together_show(tmp_path: Path, code: str, changes: dict[str, Any]) -> None:
    after = [process(n, ms, **changes) for n, ms in enumerate(STEPS_MS)]
    assert codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)]) == [code]


@pytest.mark.parametrize(
    ("code", "seen", "words"),
    [
        ("throttled", {"throttle_events": 3}, "new: the processor slowed itself down for heat"),
        (
            "device_throttled",
            {"device_throttled_ms": 40},
            "for up to 40 ms of a process (in 2 of 7 processes)",
        ),
        ("device_shared", {"device_other_processes": 2}, "new: 2 other programs were on the device"),
    ],
)
def test_heat_and_company(tmp_path: Path, code: str, seen: dict[str, int], words: str) -> None:
    strained = Conditions(load_average_before=0.4, **seen)
    calm = Conditions(load_average_before=0.4, **dict.fromkeys(seen, 0))
    after = [process(n, ms, conditions=strained if n in (2, 5) else calm) for n, ms in enumerate(STEPS_MS)]
    row = only_row(both(tmp_path, [(case(), STEPS_MS)], [(case(), after)]))
    assert [note.code for note in row.notes] == [code]
    assert words in row.notes[0].message
    assert codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)], metric="compile") == [code]
    assert codes(tmp_path, [(case(), STEPS_MS)], [(case(), after)], metric="memory") == []


def test_the_clock(tmp_path: Path) -> None:
    slow, fast = (
        [
            process(n, ms, conditions=Conditions(load_average_before=0.4, cpu_mhz_before=mhz))
            for n, ms in enumerate(STEPS_MS)
        ]
        for mhz in (2000.0, 2500.0)
    )
    assert codes(tmp_path, [(case(), slow)], [(case(), fast)]) == ["clock"]


def test_blocks_of_one_step_and_of_several(tmp_path: Path) -> None:
    ones = [process(n, ms, steps=1) for n, ms in enumerate(STEPS_MS)]
    assert codes(tmp_path, [(case(), ones)], [(case(), STEPS_MS)]) == ["block_steps"]


def test_other_work_under_the_same_name(tmp_path: Path) -> None:
    names = [run_file(tmp_path / f"{name}.json", [(case(), STEPS_MS)]) for name in "ab"]
    text = Path(names[1]).read_text()
    Path(names[1]).write_text(
        text.replace('"flops":12000000000', '"flops":13000000000').replace(
            '"gradient":8000000000', '"gradient":9000000000'
        )
    )
    (note,) = only_row(compared(*names)).notes
    assert note.code == "work_differs"
    assert "12,000,000,000 FLOPs in base and 13,000,000,000 in new" in note.message
