"""Keeps the user's name out of result files, which are made to be passed on."""

from __future__ import annotations

from pathlib import Path

import msgspec

from suite.record.schema import Outcome


def hide_home(text: str, home: Path | None = None) -> str:
    """Writes '~' for the user's home folder wherever a text names it."""
    folder = str(home or Path.home()).rstrip("/")
    return text.replace(folder, "~") if len(folder) > 1 else text


def without_home(outcome: Outcome) -> Outcome:
    """The outcome with the home folder hidden in what libraries and tracebacks said."""
    failure = outcome.failure
    if failure is None:
        return outcome
    return msgspec.structs.replace(
        outcome,
        failure=msgspec.structs.replace(
            failure,
            reason=hide_home(failure.reason),
            traceback=hide_home(failure.traceback) if failure.traceback is not None else None,
            log_tail=hide_home(failure.log_tail) if failure.log_tail is not None else None,
        ),
    )
