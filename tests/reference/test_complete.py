"""No workload without an implementation that is not ours to compare it with."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.spec import catalogue


@pytest.mark.parametrize("name", [spec.name for spec in catalogue.all_specs()])
def test_every_workload_is_compared_with_another_implementation(name: str) -> None:
    assert (Path(__file__).parent / f"test_{name}.py").is_file()
