"""What the verbs and their flags are made with."""

from __future__ import annotations

import importlib
import sys
from argparse import Namespace
from collections.abc import Callable


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
