"""What case a user's own workload is: asked of a fresh process, since the answer needs jax."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import msgspec

from suite.errors import WorkloadError
from suite.run import child
from suite.spec.case import Case
from suite.spec.config import Config

_TIMEOUT_S = 120.0


def with_identities(config: Config, platform: str) -> Config:
    """Replaces the placeholder cases of a config's own workloads by what their code says they are.

    Code that raises or hangs keeps its placeholder: its worker meets the same, and the run then has
    a row that shows it.

    Raises:
        WorkloadError: there is no such name, or it is no workload.
    """
    cases: list[Case] = []
    sources: dict[str, str] = {}
    for case in config.cases:
        source = config.sources.get(case.key)
        if source is not None:
            case = _describe(source, platform, _TIMEOUT_S) or case
            sources[case.key] = source
        cases.append(case)
    return replace(config, cases=cases, sources=sources)


def _describe(source: str, platform: str, timeout_s: float) -> Case | None:
    variables = child.environment()
    variables["JAX_PLATFORMS"] = platform if platform == "cpu" else f"{platform},cpu"
    try:
        done = subprocess.run(
            child.command("suite.run.describe", [source]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=variables,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == WorkloadError.exit_code:
        raise WorkloadError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    if done.returncode != 0:
        return None
    return msgspec.json.decode(done.stdout, type=Case)
