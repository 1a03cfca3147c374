"""Result files as the rest of jaxmark reads them: the store with the fold of this package."""

from __future__ import annotations

import os
from pathlib import Path

from suite.analysis.summary import fold
from suite.record import loading, store, validate
from suite.record.schema import ResultFile


def load(path: str | os.PathLike[str]) -> ResultFile:
    """Reads a result file or the journal of a run that is going on or was killed.

    Raises:
        ResultFileError: says what was expected, what was found, where, and what to do.
    """
    return store.load(Path(path), fold)


def problems(path: Path) -> list[str]:
    """Lists what is wrong with a result file, down to its derived figures; nothing when valid."""
    # Read on most commands and wanted by one: what reads configs has no place in the start of compare.
    from suite.analysis.learning import problems as of_learning
    from suite.record import forecasts, learning

    kind = loading.kind(path)
    if kind == learning.KIND:
        return of_learning(path)
    if kind == forecasts.KIND:
        return forecasts.problems(path)
    return validate.problems(path, fold)
