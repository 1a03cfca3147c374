"""The set-up itself: choose, make the environment, install, stamp. Called by `suite/bootstrap.py`."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from suite.bootstrap import NEWEST_TESTED, ROOT, Python, SetupError, describe, find_python, say
from suite.hardware import extras
from suite.setup import installing, stamp
from suite.setup.stamp import Stamp

_SIZES = {"cpu": "300 MB", "cuda12": "3 GB", "cuda13": "3 GB", "rocm": "1 GB", "tpu": "500 MB"}
_SIZES[extras.FORECAST] = "800 MB"
_IMPORTS = "import jax, flax, optax; print(jax.__version__)"


def run(argv: Sequence[str]) -> int:
    """Sets up and returns the exit code; an expected failure is a message, not a traceback."""
    try:
        set_up(parse(argv, os.environ.get("ACCEL")))
    except SetupError as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        say("interrupted; the next call begins this step again")
        return 130
    return 0


def parse(argv: Sequence[str], accel: str | None) -> Stamp:
    """What is wanted, as the stamp that would serve it.

    Raises:
        SetupError: `accel` names no extra.
    """
    parser = argparse.ArgumentParser(
        prog="suite/bootstrap.py",
        description="Make a virtual environment with jaxmark and the JAX for this machine's hardware.",
        epilog=f"ACCEL={'|'.join(extras.EXTRAS)} in the environment overrides the choice of hardware.",
    )
    parser.add_argument("--venv", type=Path, default=Path(ROOT, ".venv"), help="where; by default .venv here")
    parser.add_argument("--dev", action="store_true", help="also what the tests and checks need")
    parser.add_argument(
        "--python", metavar="X.Y|PATH", help="which Python; by default the newest that JAX supports"
    )
    parser.add_argument("--with", dest="requirements", metavar="REQUIREMENT", action="append", default=[])
    given = parser.parse_args(argv)
    accel = (accel or "").strip().lower() or None
    if accel is not None and accel not in extras.EXTRAS:
        raise SetupError(f"ACCEL={accel} is unknown; give one of: {', '.join(extras.EXTRAS)}.")
    return Stamp(
        state="unfinished",
        location=str(given.venv.absolute()),
        project=stamp.project_hash(Path(ROOT, "pyproject.toml")),
        hardware=stamp.hardware_fingerprint(),
        accel=accel,
        extra=accel or "",
        dev=given.dev,
        requirements=tuple(sorted(given.requirements)),
        python=given.python,
    )


def set_up(wanted: Stamp) -> None:
    """Makes the environment, or leaves it if it serves already.

    Raises:
        SetupError: no Python fits, or the installation failed.
    """
    environment = Path(wanted.location)
    if _serves(environment, wanted):
        return
    with _alone(environment):
        if _serves(environment, wanted):  # another call has made it meanwhile
            return
        began = time.monotonic()
        wanted = _choose_extra(wanted)
        made = stamp.read(environment)
        if _must_start_over(environment, made, wanted):
            say(f"removing {environment}, which is unfinished or for something else")
            shutil.rmtree(environment)
            made = None
        if made is None:
            _create(environment, find_python(dict(os.environ), wanted.python))
        else:
            wanted = replace(wanted, dev=wanted.dev or made.dev)
        _install(environment, wanted)
        say(f"ready in {environment} after {time.monotonic() - began:.0f} s")


def _serves(environment: Path, wanted: Stamp) -> bool:
    made = stamp.read(environment)
    return made is not None and made.serves(wanted) and (environment / "bin/python").exists()


def _choose_extra(wanted: Stamp) -> Stamp:
    if wanted.accel == extras.FORECAST:
        say("the compilers for TPU and CUDA, in an environment of their own where nothing is measured")
        return wanted
    if wanted.accel:
        say(f"JAX for {wanted.accel}, as ACCEL asks")
        return wanted
    choice = extras.choose()
    say(f"JAX for {choice.extra}: {choice.reason}")
    return replace(wanted, extra=choice.extra)


def _must_start_over(environment: Path, made: Stamp | None, wanted: Stamp) -> bool:
    """Whether to remove the folder.

    Raises:
        SetupError: set-up has not made it, so that it may hold something of the user's.
    """
    if not environment.exists():
        return False
    if not stamp.is_ours(environment) and (not environment.is_dir() or any(environment.iterdir())):
        raise SetupError(
            f"{environment} is there and was not made by this command. Move it away, or install into it "
            f"yourself: {environment}/bin/python -m pip install --editable '{ROOT}[dev]'"
        )
    if made is None or made.state != "complete" or not (environment / "bin/python").exists():
        return True
    same = (made.location, made.extra, made.python, made.requirements)
    return same != (wanted.location, wanted.extra, wanted.python, wanted.requirements)


def _create(environment: Path, python: Python) -> None:
    """Makes an empty environment, stamped first so that an interruption shows."""
    say(f"making {environment} with {describe(python)}")
    if python.version[:2] > NEWEST_TESTED:
        say(
            f"  newer than {'.'.join(map(str, NEWEST_TESTED))}, the newest Python that jaxmark is tested with"
        )
    try:
        environment.mkdir(parents=True, exist_ok=True)
        (environment / stamp.NAME).touch()
        subprocess.run([python.path, "-m", "venv", str(environment)], check=True, capture_output=True)
    except OSError as error:
        raise SetupError(f"{environment} cannot be made: {error}") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).decode(errors="replace").strip()
        raise SetupError(f"{describe(python)} made no virtual environment: {said}") from error


def _install(environment: Path, wanted: Stamp) -> None:
    python, log = environment / "bin/python", environment / "jaxmark-setup.log"
    stamp.write(environment, replace(wanted, state="unfinished"))
    names = ([] if wanted.extra == "cpu" else [wanted.extra]) + (["dev"] if wanted.dev else [])
    target = f"{ROOT}[{','.join(names)}]" if names else ROOT
    if any(environment.glob("lib/python*/site-packages/jax")):
        say("installing what is missing; this can take a minute or two")
    else:
        say(f"installing JAX and jaxmark, about {_SIZES[wanted.extra]} to download; this takes some minutes")
    installing.pip(python, ["install", "--editable", target, *wanted.requirements], log)
    done = subprocess.run(
        [str(python), "-c", _IMPORTS], capture_output=True, stdin=subprocess.DEVNULL, cwd="/"
    )
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise SetupError(
            f"installed, but JAX does not import: {''.join(last)}\nSee: {python} -c 'import jax, flax'"
        )
    say(f"jax {done.stdout.decode().strip()} imports")
    stamp.write(environment, replace(wanted, state="complete"))


@contextmanager
def _alone(environment: Path) -> Iterator[None]:
    """Holds off another set-up of the same environment until this one ends."""
    lock = Path(ROOT, "build", f"{environment.name}.lock")
    try:
        lock.parent.mkdir(exist_ok=True)
        handle = lock.open("w")
    except OSError as error:
        raise SetupError(f"{ROOT} is not writable: {error}") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another set-up of {environment} is under way; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
