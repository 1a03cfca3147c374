"""Pairs, looks, budget and interrupts, with fake workers and real stores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from suite.analysis.looks import Look
from suite.analysis.summary import fold
from suite.record.paired import Paired, SideName
from suite.record.schema import Failure, JournalHeader, Outcome, Process, ResultFile, Stage
from suite.record.store import load
from suite.run.pairs import Arm, Ended, PairPlan, order_of, run_pairs
from suite.run.protocol import Job
from suite.spec.case import Case
from tests.builders import case, failure, header, memory, outcome, process
from tests.run.fakes import new_store

A, B = case(batch=1), case(batch=2)
Make = Callable[[SideName, Job], Process | Failure]


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.order: list[tuple[str, int, SideName]] = []
        self.looks: list[tuple[str, int, str]] = []
        self.lines: list[str] = []

    def started(self, headers: Sequence[JournalHeader], plan: PairPlan, paths: Sequence[Path]) -> None:
        self.paths = list(paths)

    def pair_started(self, index: int, cases: int) -> None:
        self.lines.append(f"pair {index}: {cases}")

    def process_started(self, case: Case, index: int, side: SideName) -> None:
        self.order.append((case.key, index, side))

    def stage_entered(self, stage: Stage) -> None:
        pass

    def tick(self) -> None:
        pass

    def process_finished(self, side: SideName, outcome: Outcome) -> None:
        pass

    def looked(self, key: str, look: Look) -> None:
        self.looks.append((key, look.pairs, look.verdict.outcome))

    def stopping(self) -> None:
        self.lines.append("stopping")

    def finished(self, ended: Ended) -> None:
        self.lines.append(f"end {ended}")


class Sides:
    """Two sides whose workers are functions."""

    def __init__(self, folder: Path, make: Make, *cases: Case) -> None:
        self.jobs: list[tuple[SideName, Job]] = []
        self.heard = Heard()
        self._make = make
        first = order_of([of.key for of in cases], 0)
        arms = []
        for name in ("base", "new"):
            partner = {"base": "bb", "new": "aa"}[name]
            paired = Paired(side=name, partner=partner, first=first)  # type: ignore[arg-type]
            head = header(*cases, id={"base": "aa", "new": "bb"}[name], processes_planned=32, paired=paired)
            arms.append(Arm(name, new_store(folder / name, head), self._attempt(name)))  # type: ignore[arg-type]
        self.arms = (arms[0], arms[1])

    def _attempt(self, side: SideName) -> Callable[..., Outcome]:
        def attempt(job: Job, timeout_s: float, on_stage: object, tick: object) -> Outcome:
            self.jobs.append((side, job))
            return outcome(job.case, self._make(side, job))

        return attempt

    def run(self, **plan: object) -> tuple[ResultFile, ResultFile, Ended]:
        return run_pairs(PairPlan(**plan), self.arms, self.heard)  # type: ignore[arg-type]


def steady(factor: float, seconds: float = 60.0) -> Make:
    """New is slower by a factor, and both differ by a percent from pair to pair."""

    def make(side: SideName, job: Job) -> Process:
        noise = 1 + 0.01 * math.sin(7 * job.index + len(side))
        step = 4.0 * noise * (factor if side == "new" else 1)
        return process(job.index, step, steps=job.block_steps or 10, duration_s=seconds)

    return make


def counts(*files: ResultFile) -> list[list[int]]:
    return [[len(result.processes) for result in file.results] for file in files]


def test_both_of_a_pair_follow_each_other_in_the_order_that_was_drawn(tmp_path: Path) -> None:
    sides = Sides(tmp_path, steady(1.2), A, B)
    base, new, ended = sides.run()
    assert ended == "complete"
    assert base.run.paired is not None
    assert base.run.paired == msgspec.structs.replace(new.run.paired, side="base", partner="bb")  # type: ignore[type-var]
    pairs = [sides.heard.order[n : n + 2] for n in range(0, len(sides.heard.order), 2)]
    for (key, index, first), (other_key, other_index, second) in pairs:
        assert (key, index) == (other_key, other_index)
        assert first == base.run.paired.first[key][index]
        assert {first, second} == {"base", "new"}


def test_the_order_is_drawn_anew_for_each_pair_and_from_the_seed() -> None:
    drawn = order_of(["a", "b"], 1)
    assert drawn == order_of(["a", "b"], 1)
    assert drawn != order_of(["a", "b"], 2)
    assert drawn["a"] != drawn["b"]
    assert [len(order) for order in drawn.values()] == [32, 32]
    many = [side for seed in range(200) for side in order_of(["a"], seed)["a"]]
    assert 0.47 < many.count("base") / len(many) < 0.53


def test_it_stops_at_the_first_look_that_settles_every_case(tmp_path: Path) -> None:
    sides = Sides(tmp_path, steady(1.2), A)
    base, new, ended = sides.run()
    assert (ended, counts(base, new)) == ("complete", [[8], [8]])
    assert sides.heard.looks == [(A.key, 8, "regressed")]
    assert (base.run.state, base.run.processes_planned) == ("complete", 8)
    assert [load(arm.store.path, fold) for arm in sides.arms] == [base, new]


def test_a_settled_case_is_measured_no_further(tmp_path: Path) -> None:
    def make(side: SideName, job: Job) -> Process:
        wild = 1 + 0.3 * math.sin(7 * job.index + (1 if side == "new" else 0))
        return process(job.index, 4.0 * wild) if job.case == B else steady(1.5)(side, job)  # type: ignore[return-value]

    sides = Sides(tmp_path, make, A, B)
    base, new, ended = sides.run()
    assert (ended, counts(base, new)) == ("complete", [[8, 32], [8, 32]])
    assert [(key, pairs) for key, pairs, _ in sides.heard.looks] == [
        (A.key, 8), (B.key, 8), (B.key, 16), (B.key, 32),
    ]  # fmt: skip
    assert [note.code for note in base.results[0].warnings if note.code == "few_processes"] == []


def test_a_case_that_fails_on_a_side_ends_after_that_pair(tmp_path: Path) -> None:
    def make(side: SideName, job: Job) -> Process | Failure:
        if (side, job.case) == ("new", B):
            return failure(job.index, status="oom", reason="too large")
        return steady(1.2)(side, job)

    base, new, ended = Sides(tmp_path, make, A, B).run()
    assert (ended, counts(base, new)) == ("complete", [[8, 1], [8, 0]])
    assert new.results[1].status == "oom"


def test_blocks_have_as_many_steps_on_both_sides_and_each_side_is_verified_once(tmp_path: Path) -> None:
    sides = Sides(tmp_path, steady(1.2), A)
    sides.run()
    assert [job.block_steps for _, job in sides.jobs] == [None] + [10] * 15
    for side in ("base", "new"):
        assert [job.verify for name, job in sides.jobs if name == side] == [True] + [False] * 7


def test_a_budget_ends_it_between_looks_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def make(side: SideName, job: Job) -> Process:
        now[0] += 10
        return steady(1.05, seconds=10.0)(side, job)  # type: ignore[return-value]

    monkeypatch.setattr("suite.run.pairs.time.monotonic", lambda: now[0])
    # 8 pairs take 160 s and 16 take 320: there is no time for the second look.
    sides = Sides(tmp_path, make, A)
    base, new, ended = sides.run(budget_s=300.0, threshold=0.05)
    assert (ended, counts(base, new)) == ("budget", [[8], [8]])
    assert (base.run.state, base.run.processes_planned) == ("interrupted", 32)


def test_a_budget_without_time_for_the_first_look_ends_after_a_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suite.run.pairs.time.monotonic", lambda: 0.0)
    sides = Sides(tmp_path, steady(1.2, seconds=10.0), A)
    base, new, ended = sides.run(budget_s=139.0)
    assert (ended, counts(base, new), sides.heard.looks) == ("budget", [[1], [1]], [])


def test_an_interrupt_keeps_what_is_there(tmp_path: Path) -> None:
    def make(side: SideName, job: Job) -> Process | Failure:
        if job.index == 3:
            raise KeyboardInterrupt
        return steady(1.2)(side, job)

    sides = Sides(tmp_path, make, A)
    base, new, ended = sides.run()
    assert (ended, counts(base, new)) == ("interrupted", [[3], [3]])
    assert (base.run.state, new.run.state) == ("interrupted", "interrupted")
    assert sides.heard.lines[-2:] == ["stopping", "end interrupted"]
    assert [load(arm.store.path, fold) for arm in sides.arms] == [base, new]
    assert not list(tmp_path.rglob("*.journal"))


def test_each_side_has_a_cache_of_its_own(tmp_path: Path) -> None:
    sides = Sides(tmp_path, steady(1.2), A)
    for arm in sides.arms:
        arm.store.header.run.compile_cache = "cached"
    sides.run()
    folders = {side: {job.cache_dir for name, job in sides.jobs if name == side} for side in ("base", "new")}
    assert [len(found) for found in folders.values()] == [2, 2]
    assert folders["base"] & folders["new"] == {None}


def test_a_case_whose_metric_cannot_be_had_ends_at_the_first_look(tmp_path: Path) -> None:
    def make(side: SideName, job: Job) -> Process:
        return process(job.index, memory=memory(None, method=None, reason="not here"))

    base, new, ended = Sides(tmp_path, make, A).run(metric="memory")
    assert (ended, counts(base, new)) == ("complete", [[8], [8]])


def test_a_pair_without_the_metric_is_one_pair_less(tmp_path: Path) -> None:
    def make(side: SideName, job: Job) -> Process:
        some = memory(None, method=None, reason="not now") if job.index == 3 else memory()
        return process(job.index, memory=some)

    sides = Sides(tmp_path, make, A)
    base, new, _ = sides.run(metric="memory")
    assert counts(base, new) == [[16], [16]]
    assert sides.heard.looks == [(A.key, 8, "equivalent")]
