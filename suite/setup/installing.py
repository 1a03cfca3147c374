"""Running pip so that a reader sees that it lives, and understands it when it fails."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from suite.bootstrap import SetupError, say

_HEARTBEAT_S = 20.0
_TAIL_LINES = 12
_LARGE = re.compile(r"Downloading (?:\S*/)?([A-Za-z0-9_.]+)-\S+ \(([\d.]+) ([MG]B)\)")
# pip repeats each failed connection five times, and frames what its own subprocess said.
_NOISE = re.compile(r"WARNING: Retrying|\[end of output\]|note: This error originates|See above for output")
_CAUSES = (
    (
        r"NewConnectionError|NameResolutionError|name resolution|ConnectTimeout|ProxyError"
        r"|Failed to establish|Network is unreachable|Connection refused|Read timed out|SSLError|SSLCert",
        "The package index could not be reached. Check the network, and the proxy (HTTPS_PROXY) or mirror "
        "(PIP_INDEX_URL) that it needs; then run the same command again: what is downloaded is kept.",
    ),
    (r"No space left on device|Errno 28", "The disk is full. JAX for the CPU takes 1 GB, for CUDA 6 GB."),
    (r"Permission denied|Errno 13", "A folder is not writable; see the path above."),
    (
        r"No matching distribution|ResolutionImpossible|Could not find a version",
        "No release fits this Python and this system. Another Python may do: "
        "python3 suite/bootstrap.py --python 3.12",
    ),
)


def pip(python: Path, arguments: Sequence[str], log: Path) -> None:
    """Runs pip, with one line for each large download and a sign of life every 20 seconds.

    Raises:
        SetupError: pip failed; gives its last lines, what they mean, and where the rest is.
    """
    command = [str(python), "-m", "pip", *arguments]
    # Unbuffered, or pip's lines come in blocks; without its own check for a newer pip.
    environ = {**os.environ, "PYTHONUNBUFFERED": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ.pop("PYTHONPATH", None)
    lines: list[str] = []
    with (
        log.open("a") as record,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ
        ) as process,
    ):
        assert process.stdout is not None
        record.write(f"$ {' '.join(command)}\n")
        for line in _alive(process.stdout):
            record.write(line + "\n")
            lines.append(line)
            _tell(line)
    if process.returncode != 0:
        raise SetupError(_failure(lines, log))


def _alive(stream: IO[bytes]) -> Iterator[str]:
    """Lines of the stream as they come; says so when none has come for a while."""
    began, pending = time.monotonic(), b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if not selector.select(_HEARTBEAT_S):
                say(f"  still installing, {time.monotonic() - began:.0f} s so far")
                continue
            chunk = os.read(stream.fileno(), 65536)
            if not chunk:
                break
            *whole, pending = (pending + chunk).split(b"\n")
            yield from (line.decode(errors="replace").rstrip() for line in whole)
    if pending:
        yield pending.decode(errors="replace").rstrip()


def _tell(line: str) -> None:
    match = _LARGE.search(line)
    if match and (match[3] == "GB" or float(match[2]) >= 10):
        say(f"  downloading {match[1]} ({match[2]} {match[3]})")
    elif line.startswith("Installing collected packages"):
        say(f"  unpacking {line.count(',') + 1} packages")


def _failure(lines: Sequence[str], log: Path) -> str:
    text = "\n".join(lines)
    causes = [advice for pattern, advice in _CAUSES if re.search(pattern, text)]
    telling = [line.strip() for line in lines if line.strip() and not _NOISE.search(line)]
    tail = "\n".join(f"  {line}" for line in telling[-_TAIL_LINES:])
    return "\n".join((f"the installation failed:\n{tail}", *causes[:1], f"The whole log: {log}"))
