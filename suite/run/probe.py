"""Tells what JAX has here: `python -m suite.run.probe [--platform P]`, one JSON `Environment`.

A process of its own, because starting JAX takes hold of the accelerator for as long as the
process lives. Standard output carries the JSON and nothing else. Exit code 2, and a message on
standard error after a mark, when JAX or the platform asked for is not to be had.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import metadata

from suite.errors import JaxmarkError, PlatformError
from suite.record.machine import machine_id
from suite.record.schema import Environment, to_json
from suite.run.probe_client import MARK, PLATFORMS


def main(argv: list[str] | None = None) -> int:
    """Prints the environment as JSON; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m suite.run.probe", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--platform", choices=PLATFORMS, help="what JAX must have; by default its own choice")
    asked = parser.parse_args(argv).platform
    # Libraries print to the standard output as well: what they write goes to standard error.
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)
        try:
            environment = _describe(asked)
        except JaxmarkError as error:
            print(f"{MARK}{error}", file=sys.stderr)
            return error.exit_code
        answer.write(to_json(environment) + b"\n")
    return 0


def _describe(asked: str | None) -> Environment:
    """The environment of the platform asked for.

    Raises:
        PlatformError: no JAX, one that does not start, or one without that platform.
    """
    try:
        import jax

        from suite.measurement import environment

        metadata.version("flax")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("suite"):  # a fault of our own, which keeps its traceback
            raise
        raise PlatformError(_missing(error)) from error
    except (ImportError, RuntimeError, AttributeError) as error:
        raise PlatformError(_mismatch(error)) from error
    variables = environment.recorded_variables(os.environ)
    if asked is not None:
        jax.config.update("jax_platforms", _jax_platforms(asked))
    try:
        return environment.describe(asked, machine_id=machine_id(), variables=variables)
    except PlatformError as error:
        raise PlatformError(_absent(asked, error)) from error


def _jax_platforms(asked: str) -> str:
    """What JAX may start. The CPU always may, since host arrays live there."""
    # 'gpu' would make JAX insist on each vendor's backend in turn; '' starts what is there.
    return {"cpu": "cpu", "gpu": ""}.get(asked, f"{asked},cpu")


def _absent(asked: str | None, error: PlatformError) -> str:
    """Says what was asked for, what is there instead, and what to do."""
    import jax

    from suite.hardware.hints import hints
    from suite.measurement import environment

    for platforms in ("", "cpu"):
        jax.config.update("jax_platforms", platforms)
        try:
            device = environment.devices_of(None)[0]
        except PlatformError:
            continue
        name = environment.platform_of(device)
        advice = hints(name, jax_version=jax.__version__, plugins=environment.plugin_versions(), variables={})
        wanted = f"a {asked} device" if asked else f"JAX_PLATFORMS={os.environ.get('JAX_PLATFORMS', '')}"
        found = name if name == device.device_kind else f"{name} ({device.device_kind})"
        otherwise = f"To run on what is here: {'--platform ' + name if asked else 'unset JAX_PLATFORMS'}"
        return "\n".join((f"expected {wanted}, found {found}. {error}", *advice, otherwise))
    return str(error)


def _missing(error: ModuleNotFoundError) -> str:
    return (
        f"{error.name} is not installed for {sys.executable}.\n"
        f"Install it with: {sys.executable} -m pip install jax flax optax\n"
        "or set up everything with: make bench"
    )


def _mismatch(error: Exception) -> str:
    versions = []
    for name in ("jax", "jaxlib"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    return (
        f"jax does not import in {sys.executable}, which has {' and '.join(versions)}: {error}\n"
        f'Make them agree with: {sys.executable} -m pip install --upgrade "jax" "jaxlib"'
    )


if __name__ == "__main__":
    sys.exit(main())
