"""`show` is quick because it imports little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from suite.record.schema import to_json
from tests.report.runs import mixed_run

SCRIPT = """
import sys, time
began = time.perf_counter()
from pathlib import Path
from suite.analysis.files import load, problems
from suite.report import devices, listing, rows, show, text, validation
from suite.record import jsonschema, machine
show.show(load(Path(sys.argv[1])), text.make_console())
print(time.perf_counter() - began)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(to_json(mixed_run()))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True
    )
    *_, seconds, modules = done.stdout.splitlines()
    print(f"show took {float(seconds):.3f} s, imports included")
    heavy = {"jax", "jaxlib", "flax", "optax", "numpy", "scipy", "ml_dtypes", "pandas", "matplotlib"}
    assert not heavy & set(modules.split())
