"""Before any test imports JAX: run on the CPU, whatever the machine has, and in these processes only."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

os.environ["JAX_PLATFORMS"] = "cpu"
# Tests start processes of their own, which must find `suite` where this process found it, whatever their
# current folder is.
inherited = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(path)]
os.environ["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *inherited])
# A user's settings would change what is measured and what is printed; so would the width that pytest-xdist
# tells its workers, which are told to ignore Ctrl-C besides.
SETTINGS = ("JAXMARK_", "XLA_FLAGS", "JAX_DEBUG", "JAX_ENABLE", "COLUMNS", "LINES")
for name in [n for n in os.environ if n.startswith(SETTINGS)]:
    del os.environ[name]
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The environment of other implementations has no Hypothesis, and no test that needs it.
with contextlib.suppress(ModuleNotFoundError):
    from hypothesis import HealthCheck, settings

    # No test says anything of how long a machine takes that has other things to do.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps a file's tests in one process, and of the models a workload's, which share what compiles."""
    if not hasattr(config, "workerinput"):
        return  # one process alone
    for item in items:
        group = _workload(item) if item.path.parent.name == "models" else None
        item.add_marker(pytest.mark.xdist_group(group or str(item.path)))


def _workload(item: pytest.Item) -> str | None:
    """The workload that a test's name says it is of."""
    found = re.match(r"[a-z]+", item.name.partition("[")[2])
    return found[0] if found and item.path.name in COMPILING_TOGETHER else None


COMPILING_TOGETHER = (
    "test_reference.py",
    "test_steps.py",
    "test_loss.py",
    "test_work.py",
    "test_precision.py",
)
