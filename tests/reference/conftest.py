"""Comparisons with implementations that are not ours: `make test-reference`.

They need PyTorch, which no other test does; without it none is even collected.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

# Weights are drawn at random from a configuration; what asks a hub for anything is to fail at once.
os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"

HERE = Path(__file__).parent
WITHOUT_TORCH = ("test_complete.py", "test_peers_page.py")
TORCH = importlib.util.find_spec("torch") is not None
collect_ignore = [] if TORCH else [p.name for p in HERE.glob("test_*.py") if p.name not in WITHOUT_TORCH]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", action="store_true", help="the first reference test of each file only")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that need PyTorch; with --sample keeps one a file, which is one a workload."""
    ours = [item for item in items if item.path.parent == HERE and item.path.name not in WITHOUT_TORCH]
    for item in ours:
        item.add_marker(pytest.mark.reference)
    if config.getoption("--sample", False):
        firsts = {item.path: item for item in reversed(ours)}
        items[:] = [item for item in items if item not in ours or item is firsts[item.path]]


@pytest.fixture(autouse=True)
def _seeded(request: pytest.FixtureRequest) -> None:
    """Has each test draw the same random numbers, whichever ran before it."""
    if request.path.name not in WITHOUT_TORCH:
        import torch

        torch.manual_seed(0)
