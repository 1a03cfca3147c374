"""The search for the largest batch, against memory that is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from suite.forecast.search import MOST, Largest, largest_batch
from suite.record.forecast import Forecast

USABLE = 16_000_000


def compiler(needs: Callable[[int], int], fixed: int = 0, blind: bool = False, fails_at: int | None = None):
    """Answers as a compiler would; a TPU's that gave up may not say how much (`blind`)."""
    seen: list[int] = []

    def compile_at(batch: int) -> Forecast:
        seen.append(batch)
        needed = needs(batch)
        fits = needed <= USABLE
        status = "error" if batch == fails_at else "ok" if fits else "does_not_fit"
        return Forecast(
            key=f"b{batch}",
            target="v5e",
            device_kind=None,
            status=status,
            needed_bytes=None if blind and not fits else needed,
            parts={"parameters": fixed, "temporaries": needed - fixed} if fits else {},
            capacity_bytes=USABLE,
            compile_s=1.0,
            versions={},
        )

    return compile_at, seen


def exact(found: Largest, needs: Callable[[int], int]) -> None:
    assert found.exact
    assert needs(found.batch) <= USABLE < needs(found.batch + 1)
    assert found.fits is not None
    assert found.fits.key == f"b{found.batch}"
    assert found.above is not None
    assert found.above.key == f"b{found.batch + 1}"


@pytest.mark.parametrize("first", [1, 8, 512, 100_000])
@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize(
    "needs",
    [
        lambda batch: 5_000_000 + 12_345 * batch,
        lambda batch: 15_999_000 + 600 * batch,
        # Rounded up, as layouts are, and with a jump where the compiler takes another way.
        lambda batch: 2_000_000 + 65_536 * -(-batch * 7 // 8) + (900_000 if batch > 90 else 0),
        lambda batch: 1_000_000 + 40 * batch * batch,
    ],
)
def test_the_batch_fits_and_the_next_does_not(needs: Callable[[int], int], blind: bool, first: int) -> None:
    compile_at, seen = compiler(needs, fixed=500_000, blind=blind)
    found = largest_batch(compile_at, USABLE, first)
    exact(found, needs)
    assert found.compiles == len(seen) <= 24
    assert len(set(seen)) == len(seen), "no batch is compiled twice"


def test_memory_along_a_line_takes_few_compiles() -> None:
    needs = lambda batch: 5_000_000 + 12_345 * batch  # noqa: E731
    compile_at, seen = compiler(needs, fixed=5_000_000)
    exact(largest_batch(compile_at, USABLE, 8), needs)
    assert len(seen) <= 4


def test_a_model_that_is_too_large_at_once_fits_no_batch() -> None:
    compile_at, _ = compiler(lambda batch: 20_000_000 + batch)
    found = largest_batch(compile_at, USABLE, 64)
    assert (found.batch, found.fits, found.exact) == (0, None, True)
    assert found.above is not None
    assert found.above.key == "b1"


def test_on_a_mesh_batches_are_multiples() -> None:
    compile_at, seen = compiler(lambda batch: 1_000_000 * batch)
    found = largest_batch(compile_at, USABLE, 6, step=4)
    assert (found.batch, found.exact) == (16, True)
    assert all(batch % 4 == 0 for batch in seen)


def test_a_compiler_that_fails_ends_the_search_with_what_is_known() -> None:
    compile_at, _ = compiler(lambda batch: 1_000_000 * batch, fails_at=16)
    found = largest_batch(compile_at, USABLE, 4)
    assert (found.batch, found.exact) == (4, False)
    assert found.above is not None
    assert found.above.status == "error"


def test_memory_that_never_runs_out_is_said_to_be_at_least() -> None:
    compile_at, _ = compiler(lambda batch: 1_000)
    found = largest_batch(compile_at, USABLE, 1)
    assert (found.batch, found.exact) == (MOST, False)
