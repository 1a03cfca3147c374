"""Before any test imports JAX: run on the CPU, whatever the machine has, and in these processes only."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

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
