"""Expected failures, in one place.

    JaxmarkError              exit code 2 unless said otherwise
    ├── ConfigError           a config, a flag or a case that cannot be understood
    ├── WorkloadError         a workload that cannot be found, loaded or built
    ├── PlatformError         the hardware asked for is not what JAX has
    ├── StorageError          a results folder or file that cannot be written
    ├── ResultFileError       a result file that cannot be read
    ├── NotComparableError    two sides of which no figure may be set beside the other's (exit code 3)
    └── NothingMeasuredError  a run that ended with no measurement (exit code 1)

The command line prints the message of a JaxmarkError and exits with its code; anything else is
a bug and keeps its traceback. A message says what was expected, what was found, where, and what
to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class JaxmarkError(Exception):
    """Base of every expected failure; `exit_code` is what the command line exits with."""

    exit_code = 2


class ConfigError(JaxmarkError):
    """A config file, flag or case is malformed or names something unknown."""


class WorkloadError(JaxmarkError):
    """A workload cannot be found, loaded or built."""


class PlatformError(JaxmarkError):
    """The platform asked for is not the one that JAX has."""


class StorageError(JaxmarkError):
    """Results cannot be written where they were asked to go."""


class ResultFileError(JaxmarkError):
    """A file is not a readable jaxmark result."""


class NotComparableError(JaxmarkError):
    """Two sides differ in what they measure, or what on."""

    exit_code = 3


class NothingMeasuredError(JaxmarkError):
    """A run ended without one measurement."""

    exit_code = 1


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns ' Did you mean ...?' for a misspelt name, else the list of known names."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}? Known: {', '.join(known)}."
    return f"Known: {', '.join(known)}." if known else "None is known."
