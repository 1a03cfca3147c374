"""Writes a pyperf suite with pyperf's own API: `PYTHON pyperf_file.py OUT < {"name": [[seconds, ...], ...]}`.

Needs nothing but pyperf, which has an environment of its own. One run is one process, and its
values are the process's raw samples.
"""

from __future__ import annotations

import json
import sys

import pyperf


def main(path: str) -> None:
    """Reads every benchmark from standard input and writes the suite."""
    benchmarks = []
    for name, processes in json.load(sys.stdin).items():
        runs = [pyperf.Run(values, metadata={"name": name}, collect_metadata=False) for values in processes]
        benchmarks.append(pyperf.Benchmark(runs))
    pyperf.BenchmarkSuite(benchmarks).dump(path, replace=True)


if __name__ == "__main__":
    main(sys.argv[1])
