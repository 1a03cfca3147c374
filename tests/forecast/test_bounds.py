"""Bounds against figures worked out by hand: a v5e has 197 TFLOP/s in bf16 and 819 GB/s."""

from __future__ import annotations

from collections import Counter

import pytest

from suite.forecast.bounds import compiler_estimate, peak_flops, program_bound, step_bound
from suite.forecast.schedule import Schedule, Scheduled
from suite.forecast.targets import find
from suite.record.forecast import Bound

V5E, T4, H100 = find("v5e"), find("t4"), find("h100")
SECOND_OF_PRODUCTS, SECOND_OF_BYTES = 197 * 10**12, 819 * 10**9


def operation(name: str, flops: int = 0, moved: int = 0, runs: int = 1, **fields: object) -> Scheduled:
    products = Counter({"bf16": flops} if flops else {})
    return Scheduled(name, runs, products, moved, **fields)  # type: ignore[arg-type]


def program(*operations: Scheduled) -> Schedule:
    return Schedule(operations, 0)


def test_each_operation_takes_the_larger_of_its_own_two() -> None:
    found = program_bound(
        V5E,
        program(
            operation("products", SECOND_OF_PRODUCTS, SECOND_OF_BYTES // 10),
            operation("bytes", SECOND_OF_PRODUCTS // 10, SECOND_OF_BYTES, runs=2),
        ),
    )
    assert found is not None
    assert (found.seconds, found.compute_s, found.memory_s) == pytest.approx((3.0, 1.0, 2.0))
    assert found.binds == "memory"


def test_what_runs_beside_others_takes_no_time_but_all_bytes_pass_one_memory() -> None:
    beside = operation("copy", 0, SECOND_OF_BYTES, runs=5, overlaps=True)
    few = program_bound(V5E, program(operation("products", 9 * SECOND_OF_PRODUCTS), beside))
    many = program_bound(V5E, program(operation("products", 2 * SECOND_OF_PRODUCTS), beside))
    assert few is not None
    assert many is not None
    assert (few.seconds, few.binds) == (pytest.approx(9.0), "compute")
    assert (many.seconds, many.memory_s, many.binds) == (pytest.approx(5.0), pytest.approx(3.0), "memory")


def test_the_whole_step_is_held_to_its_products_and_its_fewest_bytes() -> None:
    found = program(operation("all", 4 * SECOND_OF_PRODUCTS))
    assert step_bound(V5E, found, None, 3 * SECOND_OF_BYTES) == Bound(
        seconds=4.0, compute_s=4.0, memory_s=3.0
    )
    # The formula counts less than the program does: both hold, and the fewer are needed.
    fewer = step_bound(V5E, found, SECOND_OF_PRODUCTS, 3 * SECOND_OF_BYTES)
    assert fewer is not None
    assert (fewer.compute_s, fewer.binds) == (pytest.approx(1.0), "memory")
    more = step_bound(V5E, found, 8 * SECOND_OF_PRODUCTS, None)
    assert more == Bound(seconds=4.0, compute_s=4.0, memory_s=None)


def test_a_gpus_cache_may_hold_what_an_operation_reads() -> None:
    cached = H100.cache_bytes
    assert cached == 50 << 20
    found = program_bound(H100, program(operation("small", 0, cached), operation("large", 0, cached + 3_350)))
    assert found is not None
    assert found.seconds == pytest.approx(3_350 / H100.facts.bandwidth)
    assert V5E.cache_bytes == 0


def test_a_precision_without_a_peak_has_no_bound() -> None:
    odd = Schedule((Scheduled("c", 1, Counter({"c64": 8}), 8),), 0)
    assert program_bound(T4, odd) is None
    assert step_bound(T4, odd, None, None) is None


@pytest.mark.parametrize(
    ("chip", "dtype", "tflops"),
    [
        ("h100", "f32", 494.7),  # TF32
        ("h100", "f32:highest", 66.9),
        ("t4", "f32", 8.1),
        ("t4", "f16", 65),
        ("t4", "bf16", 8.1),  # no units: computed in float32
        ("v5e", "f32:highest", 197),  # several passes of it; a bound may be too low
        ("v5e", "s8", 393),
        ("v4", "s8", 275),
    ],
)
def test_the_peak_is_that_of_what_is_multiplied(chip: str, dtype: str, tflops: float) -> None:
    assert peak_flops(find(chip), dtype) == pytest.approx(tflops * 1e12, rel=2e-3)


def test_the_compilers_cycles_are_seconds_where_the_clock_is_known() -> None:
    cycles = program(operation("a", cycles=1_500_000_000, runs=2))
    assert compiler_estimate(V5E, cycles) == pytest.approx(2.0)
    assert compiler_estimate(find("v6e"), cycles) is None
    assert compiler_estimate(V5E, program(operation("a"))) is None


@pytest.mark.parametrize("chip", ["v3", "v4", "v5e", "v5p"])
def test_the_clock_gives_the_vendors_peak_in_whole_matrix_units(chip: str) -> None:
    facts = find(chip).facts
    assert facts.clock_hz is not None
    a_unit = 2 * 128 * 128 * facts.clock_hz
    units = facts.chip_peak_tflops["bf16"] * 1e12 / a_unit
    assert units == pytest.approx(round(units), rel=5e-3)
