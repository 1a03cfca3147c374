"""False alarms and power of `jaxmark compare` on this machine, scored together.

    make campaign                                            20 pairs, some 35 minutes
    make campaign ARGS="--pairs 2 --cases matmul"            a look
    make campaign ARGS="--score"                             what there is so far, nothing measured

Each pair is three runs whose processes are interleaved: base, the same again, and one with real
extra work in its step. A pilot finds how much extra work makes margin and 2.5 half-widths. What is
finished stays in --out; called again, it goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import random
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from suite.analysis.summary import fold
from suite.record.schema import Environment
from suite.record.store import Store
from suite.run import prepare
from suite.run.attempt import attempt
from suite.run.child import HERE, Place
from suite.run.jobs import make_job, timeout_s
from suite.run.own_identity import with_identities
from suite.run.probe_client import probe
from suite.run.schedule import block_steps
from suite.spec.case import Case
from suite.spec.config import Config, from_fields
from tests.campaign import scoring
from tests.campaign.scoring import ARMS

HERE_FILE = Path(__file__).with_name("workloads.py")
EXTRA = "JAXMARK_CAMPAIGN_EXTRA"
PILOT_EXTRA = 0.5
# The pilot's half-width is one draw of many: so much more, that most pairs are slowed enough.
SAFETY = 1.2
MOST_EXTRA = 4.0


def main() -> int:
    """Measures what is missing and prints the score; 1 if a bar was missed."""
    asked = _parser().parse_args()
    out = Path(asked.out)
    if not asked.score:
        _measure(asked, out)
    pairs = scoring.pair_files(out)
    if not pairs:
        print(f"No finished pair in {out}.")
        return 2
    fine = True
    for title, margin_of in (
        ("As compare judges without a noise floor (margin 10%, assumed)", scoring.assumed(asked.threshold)),
        (f"By the threshold alone ({asked.threshold:.0%})", scoring.alone(asked.threshold)),
    ):
        seen = list(scoring.seen_in(pairs, asked.threshold, margin_of))
        text, met = scoring.in_words(title, scoring.score(seen))
        print(f"\n{text}")
        fine = fine and met
    print("\nBoth bars were met." if fine else "\nA bar was missed.")
    return 0 if fine else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--cases", default="matmul,elementwise", help="with commas: matmul, elementwise")
    parser.add_argument("--processes", type=int, default=6, help="of each arm of a pair")
    parser.add_argument("--threshold", type=float, default=0.05)
    parser.add_argument("--block-seconds", type=float, default=0.6)
    parser.add_argument("--out", default="build/campaign")
    parser.add_argument("--score", action="store_true", help="print the score of what is there")
    parser.add_argument("--fresh", action="store_true", help="throw away what is there")
    return parser


def _measure(asked: argparse.Namespace, out: Path) -> None:
    if asked.fresh and out.exists():
        shutil.rmtree(out)
    environment = probe("cpu")
    settings = (("warmup_seconds", 0.3), ("block_seconds", asked.block_seconds), ("latency_seconds", 0.02))
    overrides = [f"--{name}={value}" for name, value in settings] + [f"--processes={asked.processes}"]
    sources = [f"{HERE_FILE}:{name.strip()}" for name in asked.cases.split(",")]
    config = with_identities(from_fields({"workload": sources}, overrides), "cpu")
    began = time.monotonic()
    _pair(out / "pilot", config, environment, dict.fromkeys((c.key for c in config.cases), PILOT_EXTRA), 0)
    took = time.monotonic() - began
    extra = _extra(out, asked.threshold)
    print(f"extra work: {', '.join(f'{key} {share:+.0%}' for key, share in extra.items())}", flush=True)
    for number in range(asked.pairs):
        left = asked.pairs - number
        if number == 0 and took > 1:
            print(f"about {took * left / 60:.0f} min for {left} pairs", flush=True)
        began = time.monotonic()
        if _pair(out / f"pair-{number:03d}", config, environment, extra, number + 1):
            spent = time.monotonic() - began
            print(
                f"pair {number + 1} of {asked.pairs}, about {spent * (left - 1) / 60:.0f} min left",
                flush=True,
            )


def _extra(out: Path, threshold: float) -> Mapping[str, float]:
    """How much work each case's slowed arm does on top; settled once, by the pilot."""
    path = out / "extra.json"
    if path.exists():
        found: Mapping[str, float] = json.loads(path.read_text())
        return found
    pilot = [str(next((out / "pilot" / arm).glob("*/*.json"))) for arm in ARMS]
    extra = {}
    for seen in scoring.seen_in([pilot], threshold, scoring.assumed(threshold)):
        per_extra = math.expm1(seen.effect) / PILOT_EXTRA
        wanted = math.expm1(SAFETY * seen.needed)
        extra[seen.case] = min(MOST_EXTRA, wanted / per_extra) if per_extra > 0.1 else MOST_EXTRA
    path.write_text(json.dumps(extra, indent=2))
    return extra


def _pair(
    folder: Path, config: Config, environment: Environment, extra: Mapping[str, float], seed: int
) -> bool:
    """Measures one pair, unless that is done; returns whether there was something to do."""
    if (folder / "done").exists():
        return False
    shutil.rmtree(folder, ignore_errors=True)  # of a pair that was interrupted
    order = random.Random(seed)
    with contextlib.ExitStack() as stack:
        stores = {arm: _store(stack, folder / arm, config, environment) for arm in ARMS}
        for index in range(config.processes):
            for case in order.sample(config.cases, len(config.cases)):
                for arm in order.sample(ARMS, len(ARMS)):
                    _process(stores[arm], case, index, extra[case.key] if arm == "slow" else 0.0)
        for store in stores.values():
            store.finish("complete")
    (folder / "done").touch()
    return True


def _store(stack: contextlib.ExitStack, folder: Path, config: Config, environment: Environment) -> Store:
    header = prepare.new_header(config, environment, ["make", "campaign"])
    return stack.enter_context(contextlib.closing(Store.create(folder, header, fold)))


def _process(store: Store, case: Case, index: int, extra: float) -> None:
    place = Place(variables={EXTRA: str(extra)}, home=HERE.home)
    run = functools.partial(attempt, command=place.command("suite.run.worker"), place=place)
    job = make_job(
        store.header,
        store.outcomes,
        case,
        index,
        block_steps=block_steps(store.outcomes, case.key),
        cache_dir=None,
        memory_limit_bytes=None,
    )
    outcome = run(job, timeout_s(store.header), _nothing, _nothing)
    if outcome.failure is not None:
        raise SystemExit(f"{case.key} failed: {outcome.failure.reason}\n{outcome.failure.log_tail or ''}")
    store.append(outcome)


def _nothing(*_: Sequence[object]) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
