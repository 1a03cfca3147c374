"""How long `jaxmark history` takes over a large folder, read for the first time and from the index.

    python -m tests.scale.measure [FILES]        10,000 by default, and a tenth of it; 6 GB of disk

Aimed at, on two cores that do nothing else: 10,000 files of 50 cases within 20 s, from the index
within 2 s, within 1 GiB, and ten times the files in about ten times the time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.scale.folder import make_folder

CASES = 50


def main() -> None:
    """Makes the folders, and prints a line for each."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("   files   first time   CPU   from the index   largest process")
    for files in (most // 10, most):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            make_folder(Path(folder) / "runs", files, CASES)
            time.sleep(2.5)  # what changed just now is not kept
            cold, cpu = _timed(Path(folder))
            warm, _ = _timed(Path(folder))
            largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"{files:8} {cold:10.1f} s {cpu:4.0f} s {warm:14.2f} s {largest:13.0f} MiB", flush=True)


def _timed(folder: Path) -> tuple[float, float]:
    """Seconds by the clock and of CPU for one command, which must find what was put in."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "suite", "history", str(folder / "runs"), "--format", "json"],
        env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (machine,) = json.loads(done.stdout)["machines"]
    changed = [len(case["changes"]) for case in machine["cases"]]
    assert changed == [int(number % 5 == 0) for number in range(CASES)], changed
    return seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
