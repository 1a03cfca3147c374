"""Our training steps beside PyTorch's and beside Flax's own idiom: `python -m tests.reference.peers`.

Rounds over fresh processes, in each of which every contender runs once, in a random order, on all
cores. Then one process a model in which our step and Flax's idiom take turns, and profiles of those
models where PyTorch is faster. Writes build/peers/peers.json and, with --write, the tables of docs/peers.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from suite.hardware import host
from tests.reference.peers import page

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build/peers"
SUBJECTS = ("resnet", "vit", "bert", "gpt")
CONTENDERS = ("scan", "unroll", "eager", "compile")
_TIMEOUT_S = 900


def run(subject: str, contender: str, small: bool) -> dict[str, Any]:
    """One fresh process; {'failure': its last words} if it did not answer."""
    command = [sys.executable, "-m", "tests.reference.peers.contender", subject, contender, str(FOLDER)]
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "HF_HUB_OFFLINE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(FOLDER / "inductor"),
    }
    began = time.monotonic()
    done = subprocess.run(
        command + (["--small"] if small else []),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        words = (done.stderr.strip().splitlines() or ["no message"])[-1]
        say(f"{subject} {contender}: failed: {words}")
        return {"failure": words[:200]}
    found: dict[str, Any] = json.loads(lines[-1])
    say(f"{subject} {contender}: {time.monotonic() - began:.0f} s")
    return found


def contenders_of(subject: str) -> list[str]:
    """Those that there are: blocks with convolutions are not scanned, torch.compile needs a C++ compiler."""
    without = {"scan"} if subject == "resnet" else set()
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        without.add("compile")
    return [name for name in CONTENDERS if name not in without]


def measure(subjects: list[str], rounds: int, minutes: float, small: bool) -> dict[str, Any]:
    """Everything that the page is made from.

    Args:
        subjects: names of the models.
        rounds: at most so many.
        minutes: no round starts that would end later than this, after the first two.
        small: smaller models, to try the script out.
    """
    began = time.monotonic()
    facts = {name: run(name, "weights", small) for name in subjects}
    order, taken = random.Random(0), dict[str, dict[str, list[dict[str, Any]]]]()
    jobs = [(subject, contender) for subject in subjects for contender in contenders_of(subject)]
    for subject, contender in jobs:
        taken.setdefault(subject, {})[contender] = []
    done, longest = 0, 0.0
    while done < rounds and (done < 2 or time.monotonic() - began + longest < 60 * minutes):
        started = time.monotonic()
        for subject, contender in order.sample(jobs, len(jobs)):
            if not any("failure" in earlier for earlier in taken[subject][contender]):
                taken[subject][contender].append(run(subject, contender, small))
        # The first round compiles what later ones find in PyTorch's cache.
        done, longest = done + 1, time.monotonic() - started
    found: dict[str, Any] = {
        "small": small,
        "rounds": done,
        "facts": _facts(facts),
        "taken": taken,
        "flax": {name: run(name, "flax", small) for name in subjects},
    }
    found["profiles"] = {
        name: {side: run(name, f"profile-{side}", small) for side in ("ours", "theirs")}
        for name in page.slower(found)
    }
    found["seconds"] = time.monotonic() - began
    return found


def _facts(weights: dict[str, dict[str, Any]]) -> dict[str, Any]:
    from importlib import metadata

    packages = ("jax", "flax", "torch", "timm", "transformers")
    return {
        "cpu": host.cpu_model(),
        "threads": next((each["threads"] for each in weights.values() if "threads" in each), None),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in packages},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "load": host.load_average(),
    }


def say(text: str) -> None:
    print(f"peers: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Measures and prints the tables; 1 if a contender failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "subjects", nargs="*", metavar="MODEL", help=f"of {', '.join(SUBJECTS)}; default: all"
    )
    parser.add_argument("--rounds", type=int, default=6, metavar="N", help="at most (default: 6)")
    parser.add_argument("--minutes", type=float, default=9, metavar="M", help="for the rounds (default: 9)")
    parser.add_argument("--small", action="store_true", help="smaller models, to try the script out")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/peers.md")
    asked = parser.parse_args()
    if unknown := [name for name in asked.subjects if name not in SUBJECTS]:
        parser.error(f"unknown model {unknown[0]!r}; give some of: {', '.join(SUBJECTS)}")
    if asked.write and (asked.small or asked.subjects):
        parser.error("--write needs all models at their full size: leave out --small and the names")
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = measure(asked.subjects or list(SUBJECTS), asked.rounds, asked.minutes, asked.small)
    (FOLDER / "peers.json").write_text(json.dumps(found, indent=1) + "\n")
    print(page.tables(found))
    if asked.write:
        page.write(ROOT / "docs/peers.md", page.tables(found))
    say(f"{found['seconds'] / 60:.1f} minutes; everything is in {FOLDER / 'peers.json'}")
    return 1 if page.failures(found) else 0


if __name__ == "__main__":
    sys.exit(main())
