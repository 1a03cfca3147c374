"""Asks a fresh process what JAX has here. Imports no jax, and so never holds the accelerator."""

from __future__ import annotations

import signal
import subprocess

import msgspec

from suite.errors import PlatformError, nearest
from suite.record.schema import Environment
from suite.run.child import HERE, Place

# 'gpu' is whichever vendor's is here.
PLATFORMS = ("cpu", "cuda", "rocm", "tpu", "gpu")
# What the probe's own message follows on its standard error, to tell it from what libraries print there.
MARK = "jaxmark: "
# A TPU that another process holds makes JAX wait rather than fail.
_TIMEOUT_S = 180.0
_TAIL_LINES = 8


def probe(platform: str | None = None, *, timeout_s: float = _TIMEOUT_S, place: Place = HERE) -> Environment:
    """What JAX has in a place, by default here.

    Args:
        platform: 'cpu', 'cuda', 'rocm', 'tpu' or 'gpu' (either vendor's); None for JAX's choice.
        timeout_s: how long JAX may take to start, in seconds.
        place: interpreter and environment to ask.

    Raises:
        PlatformError: the platform is unknown or absent, or JAX is missing, broken or hangs.
    """
    if platform is not None and platform not in PLATFORMS:
        raise PlatformError(f"unknown platform {platform!r}. {nearest(platform, PLATFORMS)}")
    command = place.command("suite.run.probe", [] if platform is None else ["--platform", platform])
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, env=place.environment()
        )
    except subprocess.TimeoutExpired as error:
        said = _tail(error.stderr or b"")
        raise PlatformError(
            f"JAX did not start within {timeout_s:g} s in {place.python}{said}\n"
            "Another process may hold the accelerator (a notebook does while its kernel lives): end it, "
            "or run on the CPU with --platform cpu."
        ) from error
    if done.returncode != 0:
        raise PlatformError(_failure(done, place.python))
    try:
        return msgspec.json.decode(done.stdout, type=Environment)
    except msgspec.DecodeError as error:
        raise PlatformError(f"the probe of {place.python} answered no environment: {error}") from error


def _failure(done: subprocess.CompletedProcess[bytes], python: str) -> str:
    """The probe's own message, or what can be said of one that left none."""
    said = done.stderr.decode(errors="replace")
    _, mark, message = said.rpartition(MARK)
    if mark:
        return message.strip()
    if done.returncode >= 0:
        return f"JAX failed to start in {python}, exit code {done.returncode}{_tail(done.stderr)}"
    name = signal.Signals(-done.returncode).name
    advice = "\nThis processor may lack instructions that jaxlib was built for." if name == "SIGILL" else ""
    return f"JAX killed its own process with {name} in {python}{_tail(done.stderr)}{advice}"


def _tail(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()[-_TAIL_LINES:]
    return ":\n  " + "\n  ".join(lines) if lines else ", without a word."
