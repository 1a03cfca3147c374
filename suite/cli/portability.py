"""`jaxmark portability`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from suite.cli.exits import ALL_OK, NOT_ALL_OK
from suite.errors import PlatformError


def portability(asked: Namespace) -> int:
    """Compiles cases for chips that are not here; 1 if one does not compile.

    Raises:
        ConfigError: a target, a precision or a duration is unknown, or nothing matches.
        PlatformError: there are no compilers for this system, or they cannot be installed.
    """
    from suite.forecast import environment, targets
    from suite.forecast.portability import all_answered, plan, run
    from suite.report import portability as report
    from suite.report.text import clean, make_console
    from suite.spec.durations import parse_duration

    precisions = [part.strip() for part in asked.precision.split(",")]
    jobs = plan(targets.parse(asked.target), precisions, asked.only)
    timeout_s = parse_duration(asked.timeout)
    python = environment.interpreter() if asked.python is None else _given(Path(asked.python))
    answers = run(
        jobs,
        python,
        timeout_s,
        lambda *news: print(clean(report.progress(*news)), file=sys.stderr, flush=True),
    )
    if asked.format == "json":
        print(report.as_json(answers))
    else:
        report.show_portability(answers, make_console())
    return ALL_OK if all_answered(answers) else NOT_ALL_OK


def _given(python: Path) -> Path:
    if not os.access(python, os.X_OK) or python.is_dir():
        raise PlatformError(
            f"--python {python}: expected the interpreter of an environment that has the compilers, such as "
            "env/bin/python; it is not there, or cannot be run."
        )
    return python.absolute()
