"""What the verbs and their flags are made with."""

from __future__ import annotations

import importlib
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

PLATFORMS = ("cpu", "gpu", "cuda", "rocm", "tpu")


def verb(module: str, name: str) -> Callable[[Namespace], int]:
    """A function that imports its module when it is called."""

    def call(asked: Namespace) -> int:
        code: int = getattr(importlib.import_module(module), name)(asked)
        return code

    return call


def examples(*lines: str) -> str:
    """The end of a help text."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)


def print_safely(text: str) -> None:
    """Prints text with names from outside, as escapes where the output's encoding cannot hold them."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def tell(text: str) -> None:
    """Prints a message on stderr; what it quotes from outside sends no escape sequences to a terminal."""
    from suite.report.text import clean  # with Rich, which a help text is shown without

    print("\n".join(map(clean, f"jaxmark: {text}".split("\n"))), file=sys.stderr, flush=True)


def add_metric(group: Any) -> None:
    """Adds the flag that says which figure is compared."""
    group.add_argument(
        "--metric",
        choices=("step_time", "latency", "tail", "memory", "compile"),
        default="step_time",
        help="step_time (default), latency of single steps, their 95th percentile (tail), peak memory or "
        "compile time",
    )


def add_threshold(group: Any, what: str = "a change that matters") -> None:
    """Adds the flag that says which changes are too small to care about."""
    group.add_argument("--threshold", default="5%", metavar="SHARE", help=f"{what}: 5%% (default) or 0.05")


def add_platform(group: Any) -> None:
    """Adds the flags that say what to measure on."""
    group.add_argument("--platform", choices=PLATFORMS, help="measure on this; by default JAX's own choice")
    group.add_argument(
        "--require", choices=PLATFORMS, help="exit 2 before anything runs if JAX runs on another"
    )


def add_files(group: Any) -> None:
    """Adds the flags that say where results go, and as what machine's."""
    group.add_argument("--out", default="results", metavar="DIR", help="results folder (default: results)")
    group.add_argument("--machine", metavar="NAME", help="name this machine, for throw-away CI runners")


def add_compilers(group: Any) -> None:
    """Adds the flags for compilers of chips that are not here."""
    group.add_argument(
        "--timeout", default="10m", metavar="TIME", help="give a case up after this long (default: 10m)"
    )
    group.add_argument(
        "--python", metavar="PATH", help="an environment that has the compilers, in place of one made here"
    )


def add_native_precision(group: Any) -> None:
    """Adds the precision, where each chip may have its own."""
    group.add_argument(
        "--precision",
        default="native",
        metavar="P",
        help="fp32, default, bf16, fp16, or native: the 16 bits that a chip has units for (default: native)",
    )


def add_selection(what: Any) -> None:
    """Adds the flags that say which cases to measure, beside a config."""
    what.add_argument(
        "--workload", metavar="W", help="a name from `jaxmark list`, or file.py:name for your own"
    )
    for name, text in (
        ("preset", "size"),
        ("mode", "train, infer, ..."),
        ("precision", "fp32, default, bf16, fp16"),
        ("batch", "batch size"),
        ("layers", "scan, unroll"),
    ):
        what.add_argument(
            f"--{name}", metavar=name[0].upper(), help=f"{text}; several with commas. With --workload"
        )
    what.add_argument(
        "--only", metavar="GLOB", help="keep the cases whose key matches, such as 'gpt/*/train/*'"
    )
    what.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="K=V",
        dest="overrides",
        help="change a key of [run], or a field of every case: --set precision=bf16 --set block_seconds=1",
    )
