"""How a fresh Python process of jaxmark is started."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import suite
from suite.run.quirks import mend


def command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command that runs a module of this package in this interpreter.

    -P keeps the current folder off the module path: a folder named suite or a file named jax.py
    that lies there is not to be run.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """This process's environment, with this very package where the child finds it, and what `quirks` adds."""
    variables = dict(os.environ)
    home = str(Path(suite.__file__).resolve().parents[1])
    # An installed package is found anyway, and its folder must not come before the standard library.
    if home not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        inherited = variables.get("PYTHONPATH")
        variables["PYTHONPATH"] = os.pathsep.join([home, inherited] if inherited else [home])
    mend(variables)
    return variables
