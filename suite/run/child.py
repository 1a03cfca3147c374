"""How a fresh Python process of jaxmark is started: in this environment, or in another."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import suite
from suite.run.quirks import mend


@dataclass(frozen=True)
class Place:
    """An interpreter and the environment variables that its processes get.

    Attributes:
        python: the interpreter; need not have jaxmark installed.
        variables: set on top of this process's own.
        home: folder in which the interpreter finds this very package; None if it does by itself.
        jaxlib: version of the one installed there; None for that of this interpreter.
    """

    python: str = sys.executable
    variables: Mapping[str, str] = field(default_factory=dict)
    home: str | None = None
    jaxlib: str | None = None

    def command(self, module: str, arguments: Sequence[str] = ()) -> list[str]:
        """The command that runs a module of this package.

        -P keeps the current folder off the module path: a folder named suite or a file named jax.py
        that lies there is not to be run.
        """
        return [self.python, "-P", "-m", module, *arguments]

    def environment(self) -> dict[str, str]:
        """All variables of a process, with this package on its module path, and what `quirks` adds."""
        variables = {**os.environ, **self.variables}
        if self.home is not None:
            inherited = variables.get("PYTHONPATH")
            variables["PYTHONPATH"] = os.pathsep.join([self.home, inherited] if inherited else [self.home])
        mend(variables, self.jaxlib)
        return variables


def package_home() -> str | None:
    """The folder that this package lies in; None where it is installed, and found anyway.

    The folder of installed packages must not come before the standard library.
    """
    home = str(Path(suite.__file__).resolve().parents[1])
    return None if home in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")) else home


HERE = Place(home=package_home())
"""This interpreter, with this process's environment."""


def command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command that runs a module of this package in this interpreter."""
    return HERE.command(module, arguments)


def environment() -> dict[str, str]:
    """This process's environment as a child of it gets it."""
    return HERE.environment()
