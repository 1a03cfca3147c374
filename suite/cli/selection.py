"""From the flags of `jaxmark run` to a config."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from suite.errors import ConfigError
from suite.spec import config as configs
from suite.spec.config import Config

DEFAULT = "quick"
_CASE_FLAGS = ("preset", "mode", "precision", "batch", "layers")


def make_config(asked: Namespace) -> Config:
    """The config that the flags ask for.

    Raises:
        ConfigError: flags that contradict each other, or what a config refuses.
    """
    overrides = _overrides(asked)
    fields = {name: value for name in _CASE_FLAGS if (value := getattr(asked, name)) is not None}
    if asked.workload is None:
        if fields:
            names = ", ".join(f"--{name}" for name in fields)
            raise ConfigError(
                f"{names} goes with --workload. To change every case of a config, use "
                f"--set {next(iter(fields))}={next(iter(fields.values()))}."
            )
        config = configs.load(asked.config or DEFAULT, overrides)
    elif asked.config is not None:
        raise ConfigError(
            f"expected a config or --workload, found both ({asked.config!r} and {asked.workload!r}). "
            "To keep some cases of a config, use --only."
        )
    else:
        listed = {name: _values(name, text) for name, text in fields.items()}
        config = configs.from_fields({"workload": asked.workload, **listed}, overrides)
    return config if asked.only is None else configs.select(config, asked.only)


def refuse_with_resume(asked: Namespace) -> None:
    """Makes sure that nothing is asked for beside --resume that its file already says.

    Raises:
        ConfigError: something is.
    """
    flags = ["workload", *_CASE_FLAGS, "only", "processes", "timeout", "platform"]
    given = [f"--{name}" for name in flags if getattr(asked, name) is not None]
    given += ["--set"] if asked.overrides else []
    given += [repr(asked.config)] if asked.config is not None else []
    if given:
        raise ConfigError(
            f"{', '.join(given)} cannot go with --resume: the file says what the run is. With it go "
            "--budget, --require, --machine, --yes and --dry-run."
        )


def _overrides(asked: Namespace) -> list[str]:
    """--set, and the flags that stand for one of its keys."""
    named = {name: getattr(asked, name) for name in ("processes", "budget", "timeout")}
    return [*asked.overrides, *(f"--{name}={value}" for name, value in named.items() if value is not None)]


def _values(name: str, text: str) -> Any:
    """A flag's value, or its list of values if there are commas."""
    values = [_value(name, part.strip()) for part in text.split(",")]
    return values if len(values) > 1 else values[0]


def _value(name: str, text: str) -> Any:
    return int(text) if name == "batch" and text.isascii() and text.isdigit() else text
