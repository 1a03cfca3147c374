"""The environment that forecasts run in: its own, so that no measuring run can see those plugins. No jax."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata, util
from pathlib import Path

from suite.errors import PlatformError
from suite.hardware.extras import FORECAST

FOLDER = ".venv-forecast"


def interpreter() -> Path:
    """The Python of the forecasting environment, which is made first if it is not there.

    It has the jax and flax of the present environment, so that what is forecast is what would be
    measured here.

    Raises:
        PlatformError: there are no compilers for this system, jaxmark does not run from a
            checkout, or the installation failed.
    """
    _check_system()
    if util.find_spec("suite.setup") is None:
        raise PlatformError(_by_hand())
    from suite.bootstrap import ROOT, SetupError
    from suite.setup import stamp
    from suite.setup.command import set_up

    environment = Path(ROOT, FOLDER)
    wanted = stamp.Stamp(
        state="unfinished",
        location=str(environment),
        project=stamp.project_hash(Path(ROOT, "pyproject.toml")),
        hardware=stamp.hardware_fingerprint(),
        accel=FORECAST,
        extra=FORECAST,
        dev=False,
        requirements=_pins(),
        # A virtual environment's own interpreter would go when that environment goes.
        python=str(getattr(sys, "_base_executable", sys.executable)),
    )
    try:
        set_up(wanted)
    except SetupError as error:
        raise PlatformError(str(error)) from error
    return environment / "bin/python"


def given_or_made(path: str | None) -> Path:
    """The interpreter at `path`, or for None that of the forecasting environment.

    Raises:
        PlatformError: it cannot be run; or see `interpreter`.
    """
    if path is None:
        return interpreter()
    python = Path(path)
    if not os.access(python, os.X_OK) or python.is_dir():
        raise PlatformError(
            f"--python {python}: expected the interpreter of an environment that has the compilers, such as "
            "env/bin/python; it is not there, or cannot be run."
        )
    return python.absolute()


def _check_system() -> None:
    system, processor = platform.system(), platform.machine()
    if (system, processor.lower()) not in (("Linux", "x86_64"), ("Linux", "amd64")):
        raise PlatformError(
            "expected Linux on x86-64, the one system that the TPU and CUDA compilers are made for; found "
            f"{system} on {processor}. What came out elsewhere is in the repository: "
            "jaxmark forecast --from results/published/forecasts"
        )


def _pins() -> tuple[str, ...]:
    """The versions of what is compiled, those of this environment."""
    return tuple(f"{name}=={metadata.version(name)}" for name in ("flax", "jax"))


def _by_hand() -> str:
    pins = " ".join(f"'{pin}'" for pin in _pins())
    return (
        "expected a checkout of jaxmark, in which this command makes the environment that it needs; found an "
        "installed package. Make one beside it, from where jaxmark was installed:\n"
        f"  {sys.executable} -m venv forecast\n"
        f"  forecast/bin/python -m pip install 'jaxmark[{FORECAST}] @ <as you installed jaxmark>' {pins}\n"
        "and give it with --python forecast/bin/python"
    )
