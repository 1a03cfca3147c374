"""Loading a user's own workload from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite.errors import WorkloadError
from suite.workloads import own

TEXT = """
import jax.numpy as jnp
import suite

def pure():
    return suite.Step(lambda s, b: (s, s * b), jnp.ones(3), jnp.ones(3), suite.Facts(batch=3, version=2))

ready = suite.Call(lambda: 1.0)

def takes(argument):
    return argument

def returns_nothing():
    return None

number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "my_model.py"
    path.write_text(TEXT)
    return str(path)


def test_a_function_is_called_and_its_facts_are_the_identity(file: str) -> None:
    case = own.describe(own.load(f"{file}:pure"), f"{file}:pure")
    assert case.key == "my_model:pure/own/own/own/b3/own/v2"


def test_the_call_path_is_part_of_the_identity(file: str) -> None:
    case = own.describe(own.load(f"{file}:ready"), f"{file}:ready")
    assert case.key == "my_model:ready/own/own/own/b-/own/v1/call"


def test_the_hash_of_the_source_follows_its_text(file: str) -> None:
    before = own.source_sha256(f"{file}:pure")
    Path(file).write_text(TEXT + "\n# another line\n")
    assert before != own.source_sha256(f"{file}:pure")
    assert len(before) == 64


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pur", "Did you mean 'pure'"),
        ("number", "is int; expected a suite.Workload"),
        ("takes", "is function; expected"),
        ("returns_nothing", "is NoneType; expected"),
    ],
)
def test_a_name_that_is_no_workload_is_explained(file: str, name: str, said: str) -> None:
    with pytest.raises(WorkloadError, match=said):
        own.load(f"{file}:{name}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="no file"):
        own.load(f"{tmp_path}/nothing.py:x")


def test_what_the_users_code_raises_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("raise ZeroDivisionError('mine')\n")
    with pytest.raises(ZeroDivisionError, match="mine"):
        own.load(f"{path}:x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("items", 0),
        ("items", "8"),
        ("items", 2.5),
        ("items", True),
        ("flops", -1),
        ("flops", 2**63),
        ("flops", float("nan")),
        ("batch", 0),
        ("version", None),
        ("item", 3),
        ("loss", "mean"),
    ],
)
def test_a_fact_that_no_file_could_hold_is_refused(name: str, value: Any) -> None:
    with pytest.raises(WorkloadError, match=f"{name}: expected"):
        own.Facts(**{name: value})


def test_whole_numbers_of_other_kinds_are_whole_numbers() -> None:
    facts = own.Facts(items=np.prod((4, 8)), flops=2e9, batch=np.int32(4))
    assert (facts.items, facts.flops, facts.batch) == (32, 2_000_000_000, 4)
    assert {type(facts.items), type(facts.flops), type(facts.batch)} == {int}
