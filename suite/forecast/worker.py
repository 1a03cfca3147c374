"""Compiles in a process of its own: `python -m suite.forecast.worker`, jobs on stdin.

It runs in an environment that has the compilers, where nothing is ever measured. jax is imported
only after its environment variables are set and standard output is out of its reach.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from suite.forecast import cache, compilers
from suite.forecast.protocol import Job, Ready
from suite.forecast.targets import find
from suite.record.forecast import Forecast
from suite.run.limits import worker_memory_limit
from suite.run.worker import limit_memory, take_stdout

# Without the first, libtpu asks a cloud's metadata server which chip it runs on and waits for an
# answer; without the second, two compiles at once fail on a lock file; without the third, the CUDA
# plugin of older versions refuses to load where CUDA's libraries are not. GPU kernels cannot be
# tried out without a GPU: products are then left to cuBLAS, since of XLA's own kernels the untried
# first choice refuses sizes such as 17 tokens, where a GPU at hand would try another. The user's own
# XLA_FLAGS are for other hardware.
VARIABLES = {
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false",
}


def main() -> None:
    """Answers jobs until standard input closes."""
    stream = take_stdout()
    os.environ.update(VARIABLES)
    limit = worker_memory_limit("cpu")
    if limit is not None:
        limit_memory(limit)

    def send(message: Ready | Forecast) -> None:
        stream.write(msgspec.json.encode(message) + b"\n")
        stream.flush()

    send(Ready(versions=compilers.installed()))
    for line in sys.stdin.buffer:
        send(_answer(msgspec.json.decode(line, type=Job)))


def _answer(job: Job) -> Forecast:
    known = _known(job)
    if known is not None:
        return known
    import jax

    from suite.forecast.compiling import forecast

    # As the worker that measures sets them: the program must be the same.
    jax.config.update("jax_default_prng_impl", job.case.prng)
    jax.config.update("jax_threefry_partitionable", True)
    jax.config.update("jax_enable_compilation_cache", False)
    return forecast(job)


def _known(job: Job) -> Forecast | None:
    """What the same case came to before, found without importing jax."""
    if job.cache is None:
        return None
    shortcut = cache.shortcut(Path(job.cache), job, find(job.target), compilers.installed())
    answer = None if shortcut is None else cache.follow(shortcut)
    if answer is not None:
        answer.key, answer.cached = job.case.key, True
    return answer


if __name__ == "__main__":
    main()
    # Backends can hang while they are taken down; everything is written, so leave at once.
    sys.stdout.flush()
    os._exit(0)
