from __future__ import annotations

import pytest

from tests.spec.golden import FOLDER, NAMES, resolved


@pytest.mark.parametrize("name", NAMES)
def test_stock_configs_mean_what_they_meant(name: str) -> None:
    assert resolved(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), (
        "a stock config has changed its meaning: if that is wanted, run: python -m tests.spec.golden"
    )
