"""Which of these tests `make test` leaves to `make ci-extra`, to stay under five minutes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.spec import catalogue

HERE = Path(__file__).parent
# Compile every smoke model. In `make test` strict float32, unrolled, stands for the rest; of these two the
# coarsest precision, scanned layers and planted faults are there as well.
COMPILING = ("test_reference.py", "test_steps.py", "test_loss.py")
WITH_MORE = {"gpt", "resnet"}
# Trace every smoke model, and every published size, of which the deep ones take seconds unrolled.
TRACING = ("test_precision.py", "test_work.py")
TRACED_SLOWLY = ("resnet/152/", "unet/ddpm-cifar10/train")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as slow chains of a thousand steps, the other precisions, and deep networks unrolled."""
    for item in items:
        if item.path.parent == HERE and is_slow(item):
            item.add_marker(pytest.mark.slow)


def is_slow(item: pytest.Item) -> bool:
    words = set(re.split(r"[\[\]/-]", item.name))
    if item.path.name == "test_stability.py":
        return True
    if item.path.name == "test_generation.py":
        return bool({"llama", "moe"} & words)
    if item.path.name in COMPILING:
        return _compiled_slowly(item, words)
    if item.path.name in TRACING and "smoke" in words:
        return bool({"default", "fp16"} & words) or ("bf16" in words and "scan" in words)
    if item.path.name == "test_work.py":
        scanned_too = any("scan" in catalogue.get(word).layers for word in words & NAMES)
        return any(key in item.name for key in TRACED_SLOWLY) or ("unroll" in words and scanned_too)
    return False


def _compiled_slowly(item: pytest.Item, words: set[str]) -> bool:
    """Strict float32, with layers unrolled and nothing planted, is left for all; more for a few."""
    # Compiled for test_reference.py as well, in the same precision, and by far the longest to compile.
    if "unet" in words and item.path.name == "test_steps.py":
        return True
    few = bool(words & WITH_MORE)
    if {"default", "fp16"} & words or ("bf16" in words and not few):
        return True
    if "scan" in words and not {"gpt", "train"} <= words:
        return True
    return not few and "planted" in item.name


NAMES = {spec.name for spec in catalogue.all_specs()}
