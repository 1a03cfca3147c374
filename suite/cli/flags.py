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
