"""A stand-in for the worker that compiles: an interpreter that answers as a test tells it to."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

VERSIONS = {
    **dict.fromkeys(("jax", "jaxlib", "jax-cuda12-pjrt", "jax-cuda12-plugin"), "0.12.0.1"),
    "flax": "0.12.12",
    "optax": "0.2.8",
    "libtpu": "0.0.50.1",
    "nvidia-cuda-nvcc-cu12": "12.9.86",
}
_SCRIPT = """#!{python} -P
import json, os, sys, time
print(json.dumps({{"versions": {versions!r}}}), flush=True)

def answer(job, **fields):
    case = job["case"]
    key = "/".join([case["workload"], case["preset"], case["mode"], case["precision"], "b%d" % case["batch"],
                    case["layers"], "v%d" % case["version"]])
    known = dict(key=key, target=job["target"], device_kind="a chip", status="ok", capacity_bytes=2**34,
                 compile_s=1.5, versions={versions!r})
    print(json.dumps(known | fields), flush=True)

for line in sys.stdin:
    job = json.loads(line)
    {body}
"""


def interpreter(folder: Path, body: str, versions: dict[str, str] | None = None) -> Path:
    """Writes an executable whose worker runs `body` for each `job`; it may call `answer(job, ...)`."""
    path = folder / "python"
    text = _SCRIPT.format(
        python=sys.executable, versions=VERSIONS if versions is None else versions, body=body
    )
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
