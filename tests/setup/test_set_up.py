"""The set-up command from end to end, with a Python that records what it is asked."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from suite.setup import stamp
from tests.setup.conftest import REPOSITORY, Box, script


@pytest.fixture
def ready(box: Box) -> Box:
    """A box with a Python that fits."""
    box.python("python3.13", "3.13.99")
    return box


def state(box: Box) -> str:
    return str(json.loads((box.venv / stamp.NAME).read_text())["state"])


def installs(box: Box) -> list[str]:
    return [line for line in box.asked() if "-m pip install" in line]


def test_the_first_call_installs_and_the_second_has_nothing_to_do(ready: Box) -> None:
    first = ready.set_up(ACCEL="cpu")
    assert first.returncode == 0, first.stderr
    assert installs(ready) == [f"-m pip install --editable {REPOSITORY}"]
    assert state(ready) == "complete"
    second = ready.set_up(ACCEL="cpu")
    assert (second.returncode, second.stderr, ready.asked()) == (0, "", [])


def test_the_hardware_chooses_the_extra(ready: Box) -> None:
    smi = 'case "$1" in --query*) echo "NVIDIA H100 80GB HBM3, 580.82.07, 81559, 9.0";; esac'
    script(ready.folder / "bin/nvidia-smi", f"#!/bin/sh\n{smi}\n")
    done = ready.set_up()
    assert done.returncode == 0, done.stderr
    assert "JAX for cuda13: NVIDIA H100 80GB HBM3 found" in done.stderr
    assert installs(ready) == [f"-m pip install --editable {REPOSITORY}[cuda13]"]


@pytest.mark.parametrize("accel", ["cuda12", "cuda13", "rocm", "tpu", "TPU"])
def test_accel_overrides_the_hardware(ready: Box, accel: str) -> None:
    done = ready.set_up("--dev", ACCEL=accel)
    assert done.returncode == 0, done.stderr
    assert installs(ready) == [f"-m pip install --editable {REPOSITORY}[{accel.lower()},dev]"]


def test_an_unknown_accel_names_the_valid_ones_and_touches_nothing(ready: Box) -> None:
    done = ready.set_up(ACCEL="cuda14")
    assert done.returncode == 2
    assert done.stderr == "jaxmark: ACCEL=cuda14 is unknown; give one of: cpu, cuda12, cuda13, rocm, tpu.\n"
    assert not ready.venv.exists()


def test_the_tools_of_the_tests_are_added_in_place_and_stay(ready: Box) -> None:
    ready.set_up(ACCEL="cpu")
    ready.asked()
    (ready.venv / "kept").touch()
    ready.set_up("--dev", ACCEL="cpu")
    assert installs(ready) == [f"-m pip install --editable {REPOSITORY}[dev]"]
    assert (ready.venv / "kept").exists()
    ready.set_up(ACCEL="cpu")
    assert ready.asked() == []


def test_another_accelerator_gets_a_fresh_environment(ready: Box) -> None:
    ready.set_up(ACCEL="cuda12")
    (ready.venv / "old plugin").touch()
    ready.set_up(ACCEL="cpu")
    assert not (ready.venv / "old plugin").exists()
    assert state(ready) == "complete"


def test_a_failed_installation_is_made_again(ready: Box) -> None:
    ready.pip('touch "$(dirname "$0")/half"; echo \'ERROR: Temporary failure in name resolution\'; exit 1')
    failed = ready.set_up(ACCEL="cpu")
    assert failed.returncode == 2
    assert state(ready) == "unfinished"
    ready.pip(":")
    again = ready.set_up(ACCEL="cpu")
    assert again.returncode == 0, again.stderr
    assert "unfinished" in again.stderr
    assert not (ready.venv / "bin/half").exists()
    assert state(ready) == "complete"


def test_a_set_up_that_is_killed_is_made_again(ready: Box) -> None:
    # The installer kills the set-up that started it, as a closed laptop or a lost connection does.
    ready.pip("kill -KILL $PPID; sleep 1")
    killed = ready.set_up(ACCEL="cpu")
    assert killed.returncode == -9
    assert state(ready) == "unfinished"
    ready.pip(":")
    assert ready.set_up(ACCEL="cpu").returncode == 0
    assert state(ready) == "complete"


@pytest.mark.parametrize(
    ("says", "advice"),
    [
        (
            "NewConnectionError: Failed to establish a new connection",
            "The package index could not be reached",
        ),
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("ERROR: No matching distribution found for jaxlib", "No release fits this Python"),
    ],
)
def test_a_failure_of_pip_says_what_to_do(ready: Box, says: str, advice: str) -> None:
    ready.pip(f"echo '{says}'; exit 1")
    done = ready.set_up(ACCEL="cpu")
    assert done.returncode == 2
    assert says in done.stderr
    assert advice in done.stderr
    assert "jaxmark-setup.log" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failure_leaves_out_what_pip_repeats(ready: Box) -> None:
    retry = "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'"
    ready.pip(f"echo \"  {retry}\"; echo 'ERROR: no hatchling'; exit 1")
    said = ready.set_up(ACCEL="cpu").stderr
    assert "Retrying" not in said
    assert "ERROR: no hatchling" in said
    assert "The package index could not be reached" in said


def test_large_downloads_are_announced(ready: Box) -> None:
    ready.pip(
        "echo 'Downloading jaxlib-0.12.0-cp313-cp313-manylinux_2_27_x86_64.whl (86.8 MB)'\n"
        "echo 'Downloading rich-15.0.0-py3-none-any.whl (300 kB)'\n"
        "echo 'Installing collected packages: a, b, c'"
    )
    said = ready.set_up(ACCEL="cpu").stderr
    assert "downloading jaxlib (86.8 MB)" in said
    assert "rich" not in said
    assert "unpacking 3 packages" in said


def test_a_folder_that_set_up_has_not_made_stays_as_it_is(ready: Box) -> None:
    ready.venv.mkdir()
    (ready.venv / "mine").touch()
    done = ready.set_up(ACCEL="cpu")
    assert done.returncode == 2
    assert "was not made by this command" in done.stderr
    assert [path.name for path in ready.venv.iterdir()] == ["mine"]


def test_an_environment_whose_python_is_gone_is_made_again(ready: Box) -> None:
    ready.set_up(ACCEL="cpu")
    (ready.venv / "bin/python").unlink()
    assert ready.set_up(ACCEL="cpu").returncode == 0
    assert (ready.venv / "bin/python").exists()


def test_pins_are_passed_on_and_remembered(ready: Box) -> None:
    ready.set_up("--with", "jax==0.7.2", "--with", "flax==0.11.2", ACCEL="cpu")
    assert installs(ready) == [f"-m pip install --editable {REPOSITORY} flax==0.11.2 jax==0.7.2"]
    ready.set_up("--with", "flax==0.11.2", "--with", "jax==0.7.2", ACCEL="cpu")
    assert ready.asked() == []


def test_two_at_once_do_not_disturb_each_other(ready: Box) -> None:
    ready.pip("sleep 1")
    one = f'"{sys.executable}" "{REPOSITORY}/suite/bootstrap.py" --venv "{ready.venv}"'
    both = f"{one} & first=$!; {one}; second=$?; wait $first && exit $second"
    environ = {"PATH": f"{ready.folder}/bin:/usr/bin:/bin", "HOME": str(ready.folder), "ACCEL": "cpu"}
    done = subprocess.run(["sh", "-c", both], env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(installs(ready)) == 1
    assert "another set-up" in done.stderr


def test_no_python_that_fits_exits_2(box: Box) -> None:
    done = box.set_up("--python", str(box.python("python3.13", "3.10.1")), ACCEL="cpu")
    assert done.returncode == 2
    assert "cannot be used: too old" in done.stderr


def test_the_second_call_starts_at_once(ready: Box) -> None:
    ready.set_up(ACCEL="cpu")
    began = time.monotonic()
    ready.set_up(ACCEL="cpu")
    # Measured 0.1 to 0.2 s; what this guards is that nothing is searched, run or installed again.
    assert time.monotonic() - began < 10
