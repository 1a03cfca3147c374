"""`devices`: every fact is printed, and what is missing says so."""

from __future__ import annotations

import io

from suite.record.schema import Environment, Note
from suite.report.devices import show_devices
from suite.report.text import make_console
from tests.builders import environment


def text(of: Environment, *hints: str) -> str:
    file = io.StringIO()
    show_devices(of, hints, make_console(file))
    return file.getvalue()


def pairs(shown: str) -> dict[str, str]:
    split = (line.strip().split("  ", 1) for line in shown.splitlines() if line.startswith("  "))
    return {name: value.strip() for name, _, value in (("", "", ""), *((p[0], "", p[-1]) for p in split))}


def test_a_cpu() -> None:
    shown = pairs(text(environment()))
    assert shown["devices"] == "1 x cpu"
    assert shown["processor"] == "Example CPU @ 2.50GHz"
    assert shown["cores"] == "2 for this process, 4 in all"
    assert shown["RAM"] == "8.00 GiB, 5.59 GiB available"
    assert shown["memory limit"] == "none"
    assert shown["JAX_PLATFORMS"] == "cpu"
    assert shown["driver"] == "n/a"
    assert "compute capability" not in shown


def test_gpus() -> None:
    of = environment(
        platform="cuda",
        device_kind="NVIDIA H100 80GB HBM3",
        device_count=8,
        device_memory_bytes=85_899_345_920,
        compute_capability="9.0",
    )
    of.software.driver = "580.65"
    of.software.plugins = {"jax-cuda13-plugin": "0.12.0"}
    of.volatile.device_memory_in_use_bytes = 0
    of.volatile.device_memory_limit_bytes = 60 * 2**30
    shown = pairs(text(of))
    assert shown["devices"] == "8 x NVIDIA H100 80GB HBM3"
    assert shown["memory of each"] == "80.0 GiB"
    assert shown["in use by JAX"] == "0 B"
    assert shown["JAX may take"] == "60.0 GiB"
    assert shown["compute capability"] == "9.0"
    assert shown["driver"] == "580.65"
    assert shown["jax-cuda13-plugin"] == "0.12.0"


def test_advice_is_given_once() -> None:
    of = environment()
    of.warnings = [Note(code="cpu_fallback", message="an NVIDIA GPU is there [but] unused")]
    shown = text(of, "an NVIDIA GPU is there [but] unused", "another")
    assert shown.count("an NVIDIA GPU is there [but] unused") == 1
    assert "another" in shown
    assert "Mind" not in text(environment())
