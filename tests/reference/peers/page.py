"""The tables of docs/peers.md, made from what was measured and never typed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suite.analysis.stats import median, median_interval
from suite.report import units

BEGIN, END = "<!-- made by tests/reference/peers -->", "<!-- end of what is made -->"
NAMES = {
    "scan": "jaxmark, `scan`",
    "unroll": "jaxmark, `unroll`",
    "eager": "PyTorch, eager",
    "compile": "PyTorch, `torch.compile`",
}
OURS, THEIRS = ("scan", "unroll"), ("eager", "compile")
SAME_LOSS = 1e-4

Found = Mapping[str, Any]


def tables(found: Found) -> str:
    """Everything between the markers of the page."""
    parts = [_conditions(found), _steps(found), _losses(found), _flax(found), _profiles(found)]
    return "\n\n".join(part for part in parts if part)


def write(page: Path, made: str) -> None:
    """Replaces what stands between the markers.

    Raises:
        ValueError: the markers are not there once each, in order.
    """
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
        raise ValueError(f"{page}: expected {BEGIN!r} and then {END!r}, once each")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")


def slower(found: Found) -> list[str]:
    """The models of which PyTorch's faster contender is faster than our faster one."""
    names = []
    for subject, taken in found["taken"].items():
        ours, theirs = ([step_s(taken.get(name, [])) for name in side] for side in (OURS, THEIRS))
        if min(filter(None, ours), default=0.0) > min(filter(None, theirs), default=math.inf):
            names.append(subject)
    return names


def failures(found: Found) -> list[str]:
    """'gpt compile: last words' for each contender that failed."""
    rounds = [
        (f"{subject} {contender}", each)
        for subject, taken in found["taken"].items()
        for contender, each_round in taken.items()
        for each in each_round
    ]
    rounds += [(f"{subject} flax", each) for subject, each in found["flax"].items()]
    rounds += [
        (f"{subject} profile of {side}", each)
        for subject, sides in found["profiles"].items()
        for side, each in sides.items()
    ]
    return [f"{name}: {each['failure']}" for name, each in rounds if "failure" in each]


def step_s(rounds: list[Found]) -> float | None:
    """Median over the processes of each one's median step, in seconds; None without any."""
    good = [median(each["step_s"]) for each in rounds if "step_s" in each]
    return median(good) if good else None


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _conditions(found: Found) -> str:
    facts = found["facts"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    sizes = (
        "" if not found["small"] else " Smaller models, to try the script out: no figure of this is meant."
    )
    load = "n/a" if facts["load"] is None else f"{facts['load']:.1f}"
    return (
        f"{facts['date']}, {facts['cpu'] or 'a CPU'}, {facts['threads']} threads, Python {facts['python']}, "
        f"{versions}. "
        f"{found['rounds']} rounds of fresh processes; load at the start {load}.{sizes}"
    )


def _steps(found: Found) -> str:
    rows = []
    for subject, taken in found["taken"].items():
        best = min((value for name in THEIRS if (value := step_s(taken.get(name, [])))), default=None)
        for contender, name in NAMES.items():
            rows.append([subject, name, *_cells(taken.get(contender), best)])
    header = ["model", "training step of", "median", "range over processes", "over PyTorch's faster"]
    return _table(header, rows)


def _cells(rounds: list[Found] | None, best: float | None) -> list[str]:
    if rounds is None:
        return ["n/a", "", ""]
    value = step_s(rounds)
    if value is None:
        return ["failed", "", ""]
    each = [median(one["step_s"]) for one in rounds if "step_s" in one]
    ends = units.range_ms(1e3 * min(each), 1e3 * max(each), 1e3 * value)
    return [units.time_ms(1e3 * value), ends, "n/a" if best is None else f"{value / best:.2f}"]


def _losses(found: Found) -> str:
    rows = []
    for subject, taken in found["taken"].items():
        losses = {
            name: rounds[0]["losses"] for name, rounds in taken.items() if rounds and "losses" in rounds[0]
        }
        if not losses:
            continue
        expected = losses.get("eager") or next(iter(losses.values()))
        for name, values in losses.items():
            apart = max(abs(a - b) / abs(b) for a, b in zip(values, expected, strict=True))
            said = f"{apart:.0e}" + ("" if apart <= SAME_LOSS else " (**not the same step**)")
            rows.append([subject, NAMES[name], ", ".join(f"{value:.5f}" for value in values), said])
    return "The losses of the first steps, from the same weights on the same batch:\n\n" + _table(
        ["model", "training step of", "losses", "apart from eager, relative"], rows
    )


def _flax(found: Found) -> str:
    rows = []
    for subject, each in found["flax"].items():
        if "failure" in each:
            rows.append([subject, "failed", "", ""])
            continue
        ours, idiom = (units.time_ms(1e3 * median(each["pairs"][name])) for name in ("ours", "idiom"))
        interval = median_interval(each["log_ratios"])
        ends = "" if interval is None else f" ({math.exp(interval.low):.3f} to {math.exp(interval.high):.3f})"
        rows.append([subject, ours, idiom, f"{math.exp(median(each['log_ratios'])):.3f}{ends}"])
    header = ["model", "ours, `unroll`", "`nnx.jit` and `nnx.Optimizer`", "idiom over ours (95% interval)"]
    return "Beside Flax's own idiom, step by step in one process:\n\n" + _table(header, rows)


def _profiles(found: Found) -> str:
    """Where the time goes in the models of which PyTorch is faster."""
    if not found["profiles"]:
        return "In no model was PyTorch's faster contender faster than our faster one."
    rows = []
    for subject, sides in found["profiles"].items():
        if any("failure" in side for side in sides.values()):
            rows.append([subject, "failed", "", "", ""])
            continue
        ours, theirs = sides["ours"]["kinds"], sides["theirs"]["kinds"]
        apart = {kind: ours.get(kind, 0.0) - theirs.get(kind, 0.0) for kind in {*ours, *theirs}}
        costly = max(apart, key=lambda kind: apart[kind])
        (dearest, milliseconds), share = sides["ours"]["dearest"][0], sum(ours.values())
        rows.append(
            [
                subject,
                costly,
                units.time_ms(ours.get(costly, 0.0)),
                units.time_ms(theirs.get(costly, 0.0)),
                f"{dearest}, {units.time_ms(milliseconds)} ({milliseconds / share:.0%})",
            ]
        )
    header = [
        "model",
        "kind that costs XLA most beside PyTorch",
        "XLA",
        "PyTorch, eager",
        "XLA's dearest operation",
    ]
    return (
        "Where PyTorch is faster, what costs the time: a step's operations by kind, summed over threads, "
        "from both profilers:\n\n" + _table(header, rows)
    )
