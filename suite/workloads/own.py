"""A user's own model as a workload: from a file, from an installed package, or in a script.

What a name in a file (or an entry point) may be:

- a `Workload`, the full contract of `suite.workloads.base`;
- a `Step`: a pure `(state, batch) -> (state, outputs)` with its state and batch (path 'aot');
- a `Call`: a function run as it is, with its arguments (path 'call');
- a function without arguments that returns one of these. Prefer it: nothing is built before
  the measuring process wants it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from suite.errors import WorkloadError, nearest
from suite.spec.case import Case
from suite.spec.case import Path as CasePath
from suite.spec.sources import own_case, own_name
from suite.workloads.base import Workload

_MOST = 2**63 - 1  # what readers of JSON agree on


@dataclass(frozen=True)
class Facts:
    """What a user may say of a workload; all of it optional.

    Attributes:
        items: items per step, and `item` what one is: image, token, sample.
        flops: per step, of products and convolutions.
        loss: reads the scalar loss out of a step's outputs.
        batch: size of the batch axis; part of the identity.
        version: part of the identity; bump it when the meaning changes.

    Raises:
        WorkloadError: a number that is not whole, below 1 (FLOPs: 0) or too large for the file.
    """

    items: int | None = None
    item: str | None = None
    flops: int | None = None
    loss: Callable[[Any], Any] | None = None
    batch: int | None = None
    version: int = 1

    def __post_init__(self) -> None:
        for name, least in (("items", 1), ("flops", 0), ("batch", 1), ("version", 1)):
            value = getattr(self, name)
            if value is not None or name == "version":
                object.__setattr__(self, name, _whole(name, value, least))
        if self.item is not None and not isinstance(self.item, str):
            raise WorkloadError(f"item: expected text such as 'image', found {self.item!r}")
        if self.loss is not None and not callable(self.loss):
            raise WorkloadError(f"loss: expected a function of a step's outputs, found {self.loss!r}")


def _whole(name: str, value: Any, least: int) -> int:
    """A number of `Facts` as the file holds it; NumPy's integers and 2e9 are whole numbers too."""
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    try:
        whole = operator.index(number)
    except TypeError:
        whole = None
    if whole is None or isinstance(value, bool) or not least <= whole <= _MOST:
        raise WorkloadError(f"{name}: expected a whole number from {least} to {_MOST:,}, found {value!r}")
    return whole


@dataclass(frozen=True)
class Step:
    """A pure step with its state and batch, compiled ahead of time with the state donated."""

    step: Callable[[Any, Any], tuple[Any, Any]]
    state: Any
    batch: Any
    facts: Facts = Facts()


@dataclass(frozen=True)
class Call:
    """A function run as it is: `function(*args, **kwargs)`, again and again."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    facts: Facts = Facts()


Own = Workload | Step | Call


def load(source: str) -> Own:
    """Imports 'path/to/file.py:name' or 'package.module:name' and returns what it stands for.

    Raises:
        WorkloadError: if the file or the name does not exist, or is none of the above. What the
            user's own code raises is left as it is.
    """
    place, _, name = source.rpartition(":")
    module = _module(place, source)
    if not hasattr(module, name):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise WorkloadError(f"{place} has no {name!r}. {nearest(name, public)}")
    found = getattr(module, name)
    if not isinstance(found, Own) and inspect.isfunction(found) and not inspect.signature(found).parameters:
        found = found()
    if not isinstance(found, Own):
        raise WorkloadError(
            f"{source} is {type(found).__name__}; expected a suite.Workload, a suite.Step, a suite.Call "
            "or a function without arguments that returns one of them"
        )
    return found


def describe(own: Own, source: str) -> Case:
    """The case that a user's workload is; its name is that of the file and the object."""
    facts = own.facts if isinstance(own, Step | Call) else Facts()
    path: CasePath = "call" if isinstance(own, Call) else "aot"
    return own_case(own_name(source), version=facts.version, batch=facts.batch, path=path)


def source_sha256(source: str) -> str | None:
    """Hash of the file behind a source, recorded beside the result; None where there is no file."""
    place, _, _ = source.rpartition(":")
    if not place.endswith(".py"):
        spec = importlib.util.find_spec(place)
        place = spec.origin if spec is not None and spec.origin else ""
    file = Path(place)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _module(place: str, source: str) -> ModuleType:
    if not place:
        raise WorkloadError(f"expected 'path/to/file.py:name', found {source!r}")
    if not place.endswith(".py"):
        return importlib.import_module(place)
    file = Path(place)
    if not file.is_file():
        raise WorkloadError(f"no file {place!r} (looked from {Path.cwd()})")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise WorkloadError(f"{place} cannot be imported as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses and pickles in the file look themselves up here
    sys.path.insert(0, str(file.resolve().parent))  # so that the file imports its neighbours
    spec.loader.exec_module(module)
    return module
