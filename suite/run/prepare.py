"""What stands before the first process: the header of a new run, the checks of a resumed one."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

import suite
from suite.errors import ConfigError, PlatformError
from suite.hardware.hints import hints
from suite.record.machine import machine_id
from suite.record.private import hide_home
from suite.record.schema import SCHEMA_VERSION, Environment, JournalHeader, Run
from suite.record.store import utc_now
from suite.run.limits import worker_memory_limit
from suite.spec.config import Config

_GPUS = ("cuda", "rocm")


def named(environment: Environment, machine: str | None) -> Environment:
    """The environment under the name that the user gave the machine, if any.

    Raises:
        ConfigError: the name has characters that a name cannot have.
    """
    if machine is not None:
        environment.machine.machine_id = machine_id(machine)
    return environment


def require(environment: Environment, platform: str) -> None:
    """Makes sure that JAX runs on what was required.

    Raises:
        PlatformError: it does not; the message says what is there and what may help.
    """
    machine, software = environment.machine, environment.software
    if machine.platform == platform or (platform == "gpu" and machine.platform in _GPUS):
        return
    advice = hints(
        machine.platform,
        jax_version=software.jax,
        plugins=software.plugins,
        variables=software.variables,
    )
    found = f"found {machine.platform} ({machine.device_kind}, {machine.device_count} device(s))"
    lines = [f"--require {platform}: {found}. Nothing was run.", *advice]
    lines.append("See what JAX has here with: jaxmark devices")
    raise PlatformError("\n".join(lines))


def new_header(config: Config, environment: Environment, command: Sequence[str]) -> JournalHeader:
    """The header of a run of `config` that starts now."""
    environment.volatile.memory_limit_bytes = worker_memory_limit(environment.machine.platform)
    run = Run(
        id=uuid.uuid4().hex[:8],
        config=config.name,
        config_sha256=config.sha256,
        started_at=utc_now(),
        finished_at=None,
        state="running",
        command=[hide_home(word) for word in command],
        suite_version=suite.__version__,
        git=git_commit(),
        processes_planned=config.processes,
        timeout_s=config.timeout_s,
        seed=config.seed,
        compile_cache=config.compile_cache,
        settings=config.settings,
    )
    return JournalHeader(
        schema_version=SCHEMA_VERSION,
        run=run,
        environment=environment,
        cases=config.cases,
        sources=config.sources,
    )


def check_resumable(header: JournalHeader, environment: Environment) -> None:
    """Makes sure that the rest of a run would be measured under the conditions of its beginning.

    Raises:
        ConfigError: the machine or the software differs; the message names what does.
    """
    then = header.environment
    for what, before, now in (
        ("machine", then.machine, environment.machine),
        ("software", then.software, environment.software),
    ):
        if differences := _differences(before, now):
            lines = "\n  ".join(differences)
            raise ConfigError(
                f"cannot resume: the {what} is not the one that this run began on, and one result file "
                f"describes one {what}.\n  {lines}\nResume it there, or start a new run."
            )
    if header.run.suite_version != suite.__version__:
        raise ConfigError(
            f"cannot resume: the run began with jaxmark {header.run.suite_version}, and this is "
            f"{suite.__version__}. Resume it with that version, or start a new run."
        )


def _differences(before: Any, now: Any) -> list[str]:
    """'field: before -> now' for each field that differs."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(now)
    return [
        f"{field}: {old.get(field)!r} then, {new.get(field)!r} now"
        for field in sorted(old | new)
        # Kernels report a little less or more memory from one start to the next.
        if not _same(field, old.get(field), new.get(field))
    ]


def _same(field: str, before: Any, now: Any) -> bool:
    if field.endswith("_bytes") and isinstance(before, int) and isinstance(now, int):
        return abs(before - now) <= 0.02 * max(before, now)
    return bool(before == now)


def git_commit() -> str | None:
    """The commit of the folder that the run starts in, '-dirty' if tracked files differ from it."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
