"""`jaxmark devices`: what JAX sees, what the machine has, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from suite.record.schema import Environment, Machine, Software, Volatile
from suite.report import units
from suite.report.text import Page

_NA = "n/a"


def show_devices(environment: Environment, hints: Sequence[str], console: Console) -> None:
    """Prints the hardware and software that a run here would use.

    Args:
        environment: as the probe found it.
        hints: what is there but not used, and how to mend it.
        console: where to.
    """
    page = Page(console)
    page.line("What JAX uses", style="bold")
    page.pairs(_devices(environment.machine, environment.volatile))
    page.heading("Machine")
    page.pairs(_machine(environment.machine, environment.volatile))
    page.heading("Software")
    page.pairs(_software(environment.software))
    said = [note.message for note in environment.warnings]
    if advice := list(dict.fromkeys([*hints, *said])):
        page.heading("Mind")
        for text in advice:
            page.line(text, style="yellow", indent=2)


def _devices(machine: Machine, volatile: Volatile) -> list[tuple[str, str]]:
    pairs = [("platform", machine.platform), ("devices", f"{machine.device_count} x {machine.device_kind}")]
    if machine.platform != "cpu":
        pairs += [
            ("memory of each", _bytes(machine.device_memory_bytes)),
            ("in use by JAX", _bytes(volatile.device_memory_in_use_bytes)),
            ("JAX may take", _bytes(volatile.device_memory_limit_bytes)),
            ("compute capability", machine.compute_capability or _NA),
        ]
    return pairs


def _machine(machine: Machine, volatile: Volatile) -> list[tuple[str, str]]:
    total = _NA if machine.cpu_cores_total is None else str(machine.cpu_cores_total)
    load = _NA if volatile.load_average is None else f"{volatile.load_average:.2f} (average of a minute)"
    clock = _NA if volatile.cpu_mhz is None else f"{volatile.cpu_mhz:,.0f} MHz"
    return [
        ("processor", machine.cpu_model),
        ("cores", f"{machine.cpu_cores_available} for this process, {total} in all"),
        ("last-level cache", _bytes(machine.last_level_cache_bytes)),
        ("RAM", f"{_bytes(machine.ram_bytes)}, {_bytes(volatile.ram_available_bytes)} available"),
        ("memory limit", _bytes(volatile.memory_limit_bytes, otherwise="none")),
        ("clock", clock),
        ("load", load),
        ("system", f"{machine.os}, {machine.architecture}"),
        ("machine id", machine.machine_id),
    ]


def _software(software: Software) -> list[tuple[str, str]]:
    pairs = [
        ("Python", software.python),
        ("jax", software.jax or _NA),
        ("jaxlib", software.jaxlib or _NA),
        ("flax", software.flax or _NA),
        ("optax", software.optax or _NA),
        ("numpy", software.numpy or _NA),
        ("platform version", software.platform_version or _NA),
        ("driver", software.driver or _NA),
    ]
    pairs += sorted(software.plugins.items())
    return pairs + sorted(software.variables.items())


def _bytes(count: int | None, otherwise: str = _NA) -> str:
    return otherwise if count is None else units.size(count)
