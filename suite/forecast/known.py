"""Faults of the compilers that are known, with their issues: no excuse once they are mended. No jax."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from suite.errors import ConfigError
from suite.record.forecast import Forecast
from suite.spec.patterns import matches

_FILE = "known_problems.toml"


@dataclass(frozen=True)
class Problem:
    """A fault of a compiler.

    Attributes:
        target: the chip, or a glob of chips.
        case: a glob of case keys.
        status: of the answers that it explains.
        issue: address of the upstream issue.
        note: what fails, in one line.
    """

    target: str
    case: str
    status: str
    issue: str
    note: str

    def covers(self, answer: Forecast) -> bool:
        """Whether it is about this chip and case."""
        return matches(answer.target, self.target) and matches(answer.key, self.case)

    def explains(self, answer: Forecast) -> bool:
        """Whether an answer is what it says."""
        return answer.status == self.status and self.covers(answer)


def load() -> list[Problem]:
    """The problems that the package knows."""
    return parse(resources.files("suite.forecast").joinpath(_FILE).read_text(encoding="utf-8"))


def parse(text: str) -> list[Problem]:
    """Reads the file's text.

    Raises:
        ConfigError: a problem lacks a field, or has one too many.
    """
    expected = [field.name for field in fields(Problem)]
    rows: list[dict[str, Any]] = tomllib.loads(text).get("problem", [])
    for number, row in enumerate(rows, start=1):
        if sorted(row) != sorted(expected) or not all(isinstance(value, str) for value in row.values()):
            raise ConfigError(
                f"{_FILE}, problem {number}: expected the texts {', '.join(expected)}, found {sorted(row)}."
            )
    return [Problem(**row) for row in rows]


def explanation(answer: Forecast, problems: Sequence[Problem]) -> Problem | None:
    """The known problem behind an answer; None if there is none."""
    return next((problem for problem in problems if problem.explains(answer)), None)


def solved(answers: Sequence[Forecast], problems: Sequence[Problem]) -> list[Problem]:
    """Problems that are no more: every answer that they cover is another than they say."""
    return [
        problem
        for problem in problems
        if (covered := [answer for answer in answers if problem.covers(answer)])
        and not any(problem.explains(answer) for answer in covered)
    ]
