"""A process that summarises the files whose paths are on its stdin.

A process of its own rather than one of `multiprocessing`, which would start the user's script
again when a notebook or a script asks for a folder.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import msgspec

from suite.analysis.index.extract import Row, extract
from suite.errors import ResultFileError

Answer = Row | str
"""A summary, or why there is none."""


def answer(path: str) -> Answer:
    """Summarises a file, or says why it cannot be."""
    try:
        return extract(Path(path))
    except ResultFileError as error:
        return str(error)


def main() -> None:
    """Reads paths, writes as many answers, in MessagePack both."""
    gc.disable()  # nothing here refers back to itself, and there are many objects to look through
    paths = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[bytes])
    answers = [answer(path.decode(errors="surrogateescape")) for path in paths]
    sys.stdout.buffer.write(msgspec.msgpack.encode(answers))
