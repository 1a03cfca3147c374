"""Which process runs next, and what is left to do."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from suite.record.schema import JournalHeader, Outcome
from suite.spec.case import Case


@dataclass(frozen=True)
class Plan:
    """How the processes of a run are started; what they are stands in the run's header.

    Attributes:
        budget_s: no process starts that would take the run beyond this many seconds; None for no budget.
        memory_limit_bytes: what each worker may use; None for no limit.
        expected_s: case key -> seconds that a process may take, an estimate; None where unknown.
    """

    budget_s: float | None = None
    memory_limit_bytes: int | None = None
    expected_s: Mapping[str, float | None] = field(default_factory=dict)


def round_order(
    cases: Sequence[Case], index: int, seed: int, expected_s: Mapping[str, float | None]
) -> list[Case]:
    """The order of the cases in round `index`, the same whenever it is asked for.

    The first round goes from cheap to dear, so that figures come early; a case of unknown cost
    goes last. Later rounds are shuffled, so that no case always follows the same neighbour.
    """
    ordered = list(cases)
    if index == 0:
        costs = {case.key: expected_s.get(case.key) for case in cases}
        return sorted(ordered, key=lambda case: (costs[case.key] is None, costs[case.key] or 0.0))
    random.Random(f"{seed}/{index}").shuffle(ordered)
    return ordered


def still_to_run(cases: Sequence[Case], index: int, outcomes: Sequence[Outcome]) -> list[Case]:
    """The cases that have no outcome in round `index` and have never failed."""
    failed = {outcome.key for outcome in outcomes if outcome.failure is not None}
    done = {outcome.key for outcome in outcomes if outcome.index == index}
    return [case for case in cases if case.key not in failed | done]


def remaining(header: JournalHeader, outcomes: Sequence[Outcome]) -> list[tuple[Case, int]]:
    """Every process that the run has still to start: case and round."""
    rounds = range(header.run.processes_planned)
    return [(case, index) for index in rounds for case in still_to_run(header.cases, index, outcomes)]


def block_steps(outcomes: Sequence[Outcome], key: str) -> int | None:
    """K that the first process of the case chose; None before it has."""
    for outcome in outcomes:
        if outcome.key == key and outcome.process is not None:
            return outcome.process.block_steps
    return None


def usual_seconds(outcomes: Sequence[Outcome], key: str) -> float:
    """What a process of the case took so far, in seconds; 0 while none has run."""
    took = [o.process.duration_s for o in outcomes if o.key == key and o.process is not None]
    return median(took) if took else 0.0


def seconds_left(header: JournalHeader, plan: Plan, outcomes: Sequence[Outcome]) -> float | None:
    """Expected seconds of all processes to come; None while a case's cost is unknown.

    A case that has run is expected to take what its processes took; one that has not, its
    estimate, corrected by how far the estimates of the others were off.
    """
    took: dict[str, list[float]] = {}
    for outcome in outcomes:
        if outcome.process is not None:
            took.setdefault(outcome.key, []).append(outcome.process.duration_s)
    measured = {key: median(seconds) for key, seconds in took.items()}
    ratios = [
        seconds / expected for key, seconds in measured.items() if (expected := plan.expected_s.get(key))
    ]
    correction = median(ratios) if ratios else 1.0
    total = 0.0
    for case, _ in remaining(header, outcomes):
        expected = plan.expected_s.get(case.key)
        seconds = measured.get(case.key, None if expected is None else expected * correction)
        if seconds is None:
            return None
        total += seconds
    return total
