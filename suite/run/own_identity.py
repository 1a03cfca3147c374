"""What cases a user's own workloads are: asked of a fresh process, since the answer needs jax."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from suite.errors import WorkloadError
from suite.run.child import HERE, Place
from suite.run.protocol import Identity
from suite.run.worker_process import Exit, WorkerProcess
from suite.spec.case import Case
from suite.spec.config import Config

_LONGEST_S = 120.0


def with_identities(config: Config, platform: str, place: Place = HERE) -> Config:
    """Replaces the placeholder cases of a config's own workloads by what their code says they are in `place`.

    Code that raises, hangs or crashes keeps its placeholder: its worker meets the same, and the run
    then has a row that shows it.

    Raises:
        WorkloadError: there is no such name, or it is no workload.
    """
    asked = list(config.sources.values())
    timeout_s = min(config.timeout_s, _LONGEST_S)
    answers = dict(zip(asked, _describe(asked, platform, timeout_s, place), strict=True))
    cases: list[Case] = []
    sources: dict[str, str] = {}
    for case in config.cases:
        source = config.sources.get(case.key)
        if source is not None:
            case = answers[source] or case
            sources[case.key] = source
        cases.append(case)
    return replace(config, cases=cases, sources=sources)


def _describe(sources: Sequence[str], platform: str, timeout_s: float, place: Place) -> list[Case | None]:
    """The case of each source; None where its own code does not come to an answer."""
    answers: list[Case | None] = []
    while len(answers) < len(sources):
        rest = sources[len(answers) :]
        answers += _ask(rest, platform, timeout_s, place)
        if len(answers) < len(sources):
            # The process hung on the next one, or died of it; the others get a fresh one.
            answers.append(None)
    return answers


def _ask(sources: Sequence[str], platform: str, timeout_s: float, place: Place) -> list[Case | None]:
    """The answers of one fresh process, up to the source that it hung on or died of.

    Raises:
        WorkloadError: there is no such name, or it is no workload.
    """
    answers: list[Case | None] = []
    deadline = time.monotonic() + timeout_s
    with WorkerProcess(place.command("suite.run.describe", [platform, *sources]), place) as process:
        while len(answers) < len(sources) and (left := deadline - time.monotonic()) > 0:
            event = process.next_event(left)
            if isinstance(event, Exit):
                break
            answer = _decode(event.text) if event is not None else None
            # A copy of itself that the users' code has forked answers too.
            if answer is not None and answer.index == len(answers):
                if answer.refusal is not None:
                    raise WorkloadError(answer.refusal)
                answers.append(answer.case)
    return answers


def _decode(line: bytes) -> Identity | None:
    try:
        return msgspec.json.decode(line, type=Identity)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
