"""Turns what can go wrong inside a worker into a status with a reason."""

from __future__ import annotations

import traceback

from suite.record.schema import Stage, Status

_OUT_OF_MEMORY = ("RESOURCE_EXHAUSTED", "Out of memory", "out of memory", "std::bad_alloc")
_UNSUPPORTED = ("UNIMPLEMENTED",)


class StepFailedError(Exception):
    """A step that cannot be measured, with the status that its row gets."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status: Status = status


def classify(error: BaseException, stage: Stage) -> tuple[Status, str]:
    """Returns the status and one-line reason that an exception in `stage` stands for.

    Memory that runs out while compiling is the compiler's word that the program does not fit;
    anywhere else it is out of memory. An exception that nothing here knows is an `error`.
    """
    if isinstance(error, StepFailedError):
        return error.status, storable(str(error))
    text = f"{type(error).__name__}: {_message(error)}"
    reason = _first_line(text)
    if isinstance(error, MemoryError):
        return "oom", f"the host ran out of memory: {reason}"
    if _is_xla_error(error):
        if any(mark in text for mark in _OUT_OF_MEMORY):
            return ("does_not_fit" if stage == "compile" else "oom"), reason
        if any(mark in text for mark in _UNSUPPORTED):
            return "unsupported", reason
    if isinstance(error, NotImplementedError) and stage == "compile":
        return "unsupported", reason
    return "error", reason


def short_traceback(error: BaseException) -> str:
    """The traceback as text, its last 8,000 characters."""
    return storable("".join(traceback.format_exception(error))[-8000:])


def storable(text: str) -> str:
    """Text that JSON can hold: lone surrogates, as undecodable file names have, become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _message(error: BaseException) -> str:
    try:
        return storable(str(error))
    except Exception as fault:  # a user's own __str__, of which anything can come
        return f"its message cannot be had ({type(fault).__name__} in __str__)"


def _is_xla_error(error: BaseException) -> bool:
    return type(error).__name__ in ("XlaRuntimeError", "JaxRuntimeError")


def _first_line(text: str, limit: int = 300) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "no message"
    return line if len(line) <= limit else line[: limit - 1] + "…"
