"""Which of these tests `make test` leaves to `make ci-extra`, to stay under five minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Compile every smoke model. In `make test` strict float32 stands for all precisions, and for these two the
# coarsest is there as well.
COMPILING = ("test_reference.py", "test_steps.py", "test_loss.py")
OTHER_PRECISIONS = ("default", "fp16")
ALSO_COARSE = ("gpt", "resnet")
# 155 convolutions and as many norms: a quarter of a minute to trace. The formulas are those of 18 and 50.
TRACED_SLOWLY = "resnet/152/"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as slow the chains of a thousand steps, the deepest network, and the other precisions."""
    for item in items:
        if item.path.parent == HERE and is_slow(item):
            item.add_marker(pytest.mark.slow)


def is_slow(item: pytest.Item) -> bool:
    if item.path.name == "test_stability.py":
        return True
    if item.path.name == "test_work.py":
        return TRACED_SLOWLY in item.name
    words = item.name.replace("[", "/").replace("]", "/").replace("-", "/").split("/")
    others = OTHER_PRECISIONS if set(ALSO_COARSE) & set(words) else (*OTHER_PRECISIONS, "bf16")
    return item.path.name in COMPILING and any(precision in words for precision in others)
