"""Order of the rounds and what is left to do."""

from __future__ import annotations

import pytest

from suite.run.schedule import Plan, block_steps, remaining, round_order, seconds_left, still_to_run
from tests.builders import case, failure, header, outcome, process

A, B, C = case(batch=1), case(batch=2), case(batch=3)


def test_first_round_goes_from_cheap_to_dear_and_unknown_last() -> None:
    costs = {A.key: 5.0, B.key: None, C.key: 1.0}
    assert round_order([A, B, C], 0, 0, costs) == [C, A, B]
    assert round_order([A, B, C], 0, 0, {}) == [A, B, C]


def test_later_rounds_are_shuffled_by_seed_and_round() -> None:
    cases = [case(batch=n) for n in range(1, 20)]
    first, second = round_order(cases, 1, 0, {}), round_order(cases, 2, 0, {})
    assert first != cases
    assert first != second
    assert sorted(c.key for c in first) == sorted(c.key for c in cases)
    assert round_order(cases, 1, 0, {}) == first
    assert round_order(cases, 1, 1, {}) != first


def test_a_failed_case_and_a_finished_process_do_not_run_again() -> None:
    done = [outcome(A, process(0)), outcome(B, failure(0))]
    assert still_to_run([A, B, C], 0, done) == [C]
    assert still_to_run([A, B, C], 1, done) == [A, C]
    three = header(A, B, C, processes_planned=2)
    assert remaining(three, done) == [(C, 0), (A, 1), (C, 1)]


def test_block_steps_is_that_of_the_first_process() -> None:
    done = [outcome(A, failure(0)), outcome(B, process(0, steps=7)), outcome(B, process(1, steps=9))]
    assert block_steps(done, B.key) == 7
    assert block_steps(done, A.key) is None


def test_seconds_left_learns_from_what_ran() -> None:
    two = header(A, B, processes_planned=2)
    plan = Plan(expected_s={A.key: 5.0, B.key: 10.0})
    assert seconds_left(two, plan, []) == pytest.approx(30.0)
    # A took 10 s where 5 were expected: B is expected to be off by as much.
    done = [outcome(A, process(0, duration_s=10.0))]
    assert seconds_left(two, plan, done) == pytest.approx(10.0 + 2 * 20.0)
    assert seconds_left(two, Plan(), []) is None
    assert seconds_left(two, plan, [outcome(A, failure(0)), outcome(B, failure(0))]) == 0.0
