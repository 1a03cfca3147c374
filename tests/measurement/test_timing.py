"""The rules of warm-up, block size and sampling, on a clock that the test moves."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from suite.measurement import timing
from suite.spec.settings import MeasureSettings

MS = 1_000_000


class Machine:
    """Steps that take what `cost(n)` says for the n-th step, in nanoseconds."""

    def __init__(self, cost: Callable[[int], int]) -> None:
        self.cost, self.now, self.done = cost, 0, 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.now += self.cost(self.done)
            self.done += 1

    def clock(self) -> int:
        return self.now


def warm(machine: Machine, block_steps: int | None = None, **settings: float) -> timing.Warmup:
    return timing.warm_up(machine.run, MeasureSettings(**settings), block_steps, machine.clock)


@pytest.mark.parametrize("step_ns", [20_000, 400_000, 3 * MS, 49 * MS])
def test_a_block_lasts_at_least_50_ms(step_ns: int) -> None:
    warmup = warm(Machine(lambda _: step_ns))
    assert warmup.block_steps * step_ns >= timing.MIN_BLOCK_NS
    assert (warmup.block_steps - 1) * step_ns < 2 * timing.MIN_BLOCK_NS
    assert warmup.steady


def test_a_long_step_is_a_block_of_its_own() -> None:
    assert warm(Machine(lambda _: 50 * MS)).block_steps == 1


def test_slow_first_steps_do_not_choose_the_block_size() -> None:
    machine = Machine(lambda n: [55 * MS, 8 * MS][n] if n < 2 else 5 * MS)
    assert warm(machine).block_steps >= 10


@pytest.mark.parametrize("held_up", [1, 2, 3])
def test_one_block_that_was_held_up_does_not_choose_the_block_size(held_up: int) -> None:
    machine = Machine(lambda n: 80 * MS if n == held_up else 1 * MS)
    assert warm(machine).block_steps >= 50


def test_a_given_block_size_is_kept() -> None:
    warmup = warm(Machine(lambda _: 1 * MS), block_steps=7)
    assert warmup.block_steps == 7
    assert set(warmup.steps) == {7}


def test_warm_up_lasts_its_seconds_and_three_steps() -> None:
    machine = Machine(lambda _: 10 * MS)
    warm(machine)
    assert machine.now >= 1_000 * MS
    machine = Machine(lambda _: 2_000 * MS)
    warm(machine)
    assert machine.done >= timing.MIN_WARMUP_STEPS


def test_warm_up_goes_on_until_the_step_time_settles() -> None:
    falling = Machine(lambda n: int((60 + 1000 * 0.7**n) * MS))
    warmup = warm(falling)
    assert warmup.steady
    assert falling.done > 10
    assert warmup.ns[-1] < 2 * 60 * MS


def test_a_step_time_that_never_settles_is_not_steady() -> None:
    growing = Machine(lambda n: int(60 * MS * 1.2**n))
    warmup = warm(growing)
    assert not warmup.steady
    assert growing.done >= timing.MIN_SAMPLES
    assert growing.now >= 10_000 * MS


def test_every_warm_up_sample_is_kept_with_its_steps() -> None:
    machine = Machine(lambda _: 1 * MS)
    warmup = warm(machine)
    assert sum(warmup.steps) == machine.done
    assert sum(warmup.ns) == machine.now
    assert [ns // MS for ns in warmup.ns] == warmup.steps


@pytest.mark.parametrize(
    ("step_ms", "seconds", "expected"),
    [(60, 2.0, 20), (400, 2.0, 5), (3_000, 2.0, 5), (150, 2.0, 14)],
)
def test_blocks_are_twenty_or_two_seconds_but_at_least_five(
    step_ms: int, seconds: float, expected: int
) -> None:
    machine = Machine(lambda _: step_ms * MS)
    taken = list(timing.sample(machine.run, 1, timing.MAX_BLOCKS, seconds, machine.clock))
    assert len(taken) == expected
    assert set(taken) == {step_ms * MS}


def test_the_garbage_collector_rests_and_comes_back() -> None:
    assert gc.isenabled()
    with timing.no_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
