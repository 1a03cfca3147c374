"""What cases a user's own workloads are: asked of a fresh process, since the answer needs jax."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from suite.errors import WorkloadError
from suite.run import child
from suite.spec.case import Case
from suite.spec.config import Config

_LONGEST_S = 120.0


def with_identities(config: Config, platform: str) -> Config:
    """Replaces the placeholder cases of a config's own workloads by what their code says they are.

    Code that raises, hangs or crashes keeps its placeholder: its worker meets the same, and the run
    then has a row that shows it.

    Raises:
        WorkloadError: there is no such name, or it is no workload.
    """
    asked = list(config.sources.values())
    answers = dict(zip(asked, _describe(asked, platform, min(config.timeout_s, _LONGEST_S)), strict=True))
    cases: list[Case] = []
    sources: dict[str, str] = {}
    for case in config.cases:
        source = config.sources.get(case.key)
        if source is not None:
            case = answers[source] or case
            sources[case.key] = source
        cases.append(case)
    return replace(config, cases=cases, sources=sources)


def _describe(sources: Sequence[str], platform: str, timeout_s: float) -> list[Case | None]:
    """The case of each source; None where its own code does not come to an answer."""
    answers: list[Case | None] = []
    while len(answers) < len(sources):
        rest = sources[len(answers) :]
        answers += _ask(rest, platform, timeout_s)[: len(rest)]
        if len(answers) < len(sources):
            # The process hung on the next one, or died of it; the others get a fresh one.
            answers.append(None)
    return answers


def _ask(sources: Sequence[str], platform: str, timeout_s: float) -> list[Case | None]:
    variables = child.environment()
    variables["JAX_PLATFORMS"] = platform if platform == "cpu" else f"{platform},cpu"
    try:
        done = subprocess.run(
            child.command("suite.run.describe", sources),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=variables,
        )
        said = done.stdout
    except subprocess.TimeoutExpired as error:
        done, said = None, error.stdout or b""
    if done is not None and done.returncode == WorkloadError.exit_code:
        raise WorkloadError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    return [msgspec.json.decode(line, type=Case | None) for line in said.splitlines()]
