"""What users' workloads say they are, whatever their code does while it is asked."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from suite.errors import WorkloadError
from suite.run.own_identity import with_identities
from suite.spec import config as configs
from suite.spec.config import Config

TEXT = """
import os, sys, time
import jax.numpy as jnp
import suite

def _own(**facts):
    step = lambda state, batch: (state + batch, state)
    return suite.Step(step, jnp.zeros(3), jnp.ones(3), suite.Facts(**facts))

def leaves():
    os._exit(2)

def exits():
    sys.exit("bye")

def interrupts():
    raise KeyboardInterrupt

def wanders():
    os.chdir("/")
    return _own(version=4)

def asks():
    input("which one? ")

def talks():
    os.write(1, b"null\\n" * 9)
    return _own(version=5)

def forks():
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
    return _own(version=6)

def doubles():
    os.fork()
    return _own(version=7)

def good():
    return _own(version=3)

def no_batch():
    return _own(batch=0)
"""


def described(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Config:
    """The config of these workloads, in which each name is asked for what it is."""
    (folder / "mine.py").write_text(TEXT)
    sources = ", ".join(f'"mine.py:{name}"' for name in names)
    (folder / "all.toml").write_text(f"[[case]]\nworkload = [{sources}]\n")
    monkeypatch.chdir(folder)  # the sources are relative to it
    return with_identities(configs.load("all.toml"), "cpu")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("leaves", 1),
        ("exits", 1),
        ("interrupts", 1),
        ("wanders", 4),
        ("asks", 1),
        ("talks", 5),
        pytest.param("doubles", 7, marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")),
    ],
)
def test_the_next_workload_is_what_it_says_whatever_the_one_before_did(
    name: str, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = described(tmp_path, monkeypatch, name, "good")
    assert [case.key for case in found.cases] == [
        f"mine:{name}/own/own/own/b-/own/v{version}",
        "mine:good/own/own/own/b-/own/v3",
    ]
    assert found.sources == {case.key: f"mine.py:{case.workload.split(':')[1]}" for case in found.cases}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_it_leaves_behind_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()
    found = described(tmp_path, monkeypatch, "forks")
    assert [case.version for case in found.cases] == [6]
    assert time.monotonic() - began < 50


def test_a_fact_that_cannot_be_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WorkloadError, match=r"mine\.py:no_batch: batch: expected a whole number from 1"):
        described(tmp_path, monkeypatch, "good", "no_batch")
