"""`jaxmark forecast`: what a step needs of chips that are not here, and the least time it can take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from suite.analysis.beside import tightest
from suite.forecast.protocol import Job
from suite.forecast.search import Largest
from suite.forecast.targets import find
from suite.record import forecasts
from suite.record.forecast import Forecast
from suite.report import units
from suite.report.rows import to_json, to_tsv
from suite.report.text import Cell, Page

_WORDS = {"ok": "fits", "does_not_fit": "does not fit", "timeout": "timed out"}
_STYLES = {"ok": "green", "does_not_fit": "yellow"}
_HOW_TO_READ = (
    "Nothing was run. 'needs' is the compiler's total for one device. 'bound' is the least time that a step "
    "can take at the vendor's dense peak and bandwidth: the larger of the whole step's and of the compiled "
    "program's, operation by operation; a real step is slower. 'binds' is what it stands on. 'at most' are "
    "items a second at the bound, over all devices."
)


def show_forecasts(answers: Sequence[Forecast], console: Console) -> None:
    """Prints a table for each workload and chip, with what the memory is made of.

    Args:
        answers: at least one.
        console: where to.
    """
    page = Page(console)
    for name, group in _groups(answers):
        _target(page, name, group)
    page.heading("How to read it")
    page.line(_HOW_TO_READ, indent=2)
    if any(answer.compiler_s for answer in answers):
        page.line(
            "'compiler' is the TPU compiler's own estimate of a step: about right for matrix products, "
            "several times too slow for what only moves data.",
            indent=2,
        )
    for versions in dict.fromkeys(map(_versions, answers)):
        page.line(versions, indent=2)


def as_json(answers: Sequence[Forecast]) -> str:
    """A file of forecasts, with what the compilers said in full."""
    return forecasts.encode(answers)


def as_tsv(answers: Sequence[Forecast]) -> str:
    """One row for each answer."""
    return to_tsv([row(answer) for answer in answers])


def row(answer: Forecast) -> dict[str, Any]:
    """An answer as one flat row; sizes in bytes, times in seconds."""
    bound = tightest(answer)
    work = answer.work
    return {
        "target": answer.target,
        "key": answer.key,
        "status": answer.status,
        "devices": answer.devices,
        "needed_bytes": answer.needed_bytes,
        "capacity_bytes": answer.capacity_bytes,
        "step_bound_s": None if answer.step_bound is None else answer.step_bound.seconds,
        "program_bound_s": None if answer.program_bound is None else answer.program_bound.seconds,
        "binds": None if bound is None else bound.binds,
        "items_per_second_at_most": items_per_second(answer),
        "item": None if work is None else work.item,
        "compiler_s": answer.compiler_s,
        "compile_s": answer.compile_s,
        "reason": answer.reason,
    }


def show_largest(found: Sequence[tuple[Job, Largest]], console: Console) -> None:
    """Prints the largest batch of each case, model by chip, and what stands behind it."""
    page = Page(console)
    targets = list(dict.fromkeys(job.target for job, _ in found))
    rows: dict[str, dict[str, Largest]] = {}
    for job, largest in found:
        rows.setdefault(_without_batch(job), {})[job.target] = largest
    page.heading("Largest batch that fits, model by chip")
    page.table(
        ("case", *targets),
        [[key, *(_batch(of.get(target)) for target in targets)] for key, of in rows.items()],
        indent=2,
    )
    for job, largest in found:
        _explain(page, job, largest)
    page.heading("How to read it")
    page.line(
        "That batch was compiled and fits, and the next was compiled and does not; nothing was run. '>=' is "
        "where the search ended before it was sure. Over all devices, where there are several.",
        indent=2,
    )
    answers = [answer for _, largest in found for answer in (largest.fits, largest.above) if answer]
    for versions in dict.fromkeys(map(_versions, answers)):
        page.line(versions, indent=2)


def largest_json(found: Sequence[tuple[Job, Largest]]) -> str:
    """Every search for scripts."""
    return to_json({"largest": [_largest_row(job, largest) for job, largest in found]})


def largest_tsv(found: Sequence[tuple[Job, Largest]]) -> str:
    """One row for each search."""
    return to_tsv([_largest_row(job, largest) for job, largest in found])


def items_per_second(answer: Forecast) -> float | None:
    """Items a second at the bound; None without a bound or items."""
    bound, work = tightest(answer), answer.work
    if bound is None or not bound.seconds or work is None or work.items is None:
        return None
    return work.items / bound.seconds


def _groups(answers: Iterable[Forecast]) -> list[tuple[str, list[Forecast]]]:
    groups: dict[str, list[Forecast]] = {}
    for answer in answers:
        model = "/".join(answer.key.split("/")[:2])
        chips = f"{answer.devices} devices of {answer.target}" if answer.devices > 1 else answer.target
        kind = answer.device_kind or "not reached"
        name = f"{model} on {chips}: {kind}, {units.size(answer.capacity_bytes)} usable"
        groups.setdefault(name, []).append(answer)
    return list(groups.items())


def _target(page: Page, name: str, answers: Sequence[Forecast]) -> None:
    page.heading(name)
    estimated = any(answer.compiler_s for answer in answers)
    header = ["step", "result", "needs", "bound", "binds", "at most"] + ["compiler"] * estimated
    page.table(
        header,
        [_cells(answer) + [_seconds(answer.compiler_s)] * estimated for answer in answers],
        left=(0, 1, 4),
        indent=2,
    )
    for answer in answers:
        label = _label(answer)
        if answer.parts:
            parts = ", ".join(f"{name} {units.size(size)}" for name, size in answer.parts.items())
            page.line(f"{label}: {parts}", indent=2)
        for each in answer.collectives:
            moved = f"{each.count} {each.kind}, {units.size(each.bytes)} a step on each device"
            page.line(f"{label}: {moved}", indent=2)
        for note in _notes(answer):
            page.line(f"{label}: {note}", style="yellow", indent=2)


def _notes(answer: Forecast) -> list[str]:
    loops = answer.unknown_loops
    notes = [answer.reason, answer.bound_reason, f"emulated: {answer.emulated}" if answer.emulated else None]
    notes.append(f"{loops} loops of unknown length count once in the bounds" if loops else None)
    return [note for note in notes if note]


def _cells(answer: Forecast) -> list[Cell]:
    bound, rate = tightest(answer), items_per_second(answer)
    item = answer.work.item if answer.work and answer.work.item else "item"
    return [
        _label(answer),
        (_WORDS.get(answer.status, answer.status), _STYLES.get(answer.status, "red")),
        "n/a" if answer.needed_bytes is None else units.size(answer.needed_bytes),
        "n/a" if bound is None else f">= {_seconds(bound.seconds)}",
        "n/a" if bound is None else bound.binds,
        "n/a" if rate is None else f"{units.count(rate)} {item}s/s",
    ]


def _seconds(seconds: float | None) -> str:
    return "n/a" if seconds is None else units.time_ms(seconds * 1e3)


def _label(answer: Forecast) -> str:
    """The key without workload, preset and version, which its heading or nobody needs."""
    parts = answer.key.split("/")[2:]
    return "/".join(part for part in parts if not (part.startswith("v") and part[1:].isdigit()))


def _without_batch(job: Job) -> str:
    parts = job.case.key.split("/")
    return "/".join(part for number, part in enumerate(parts) if number != 4)


def _batch(largest: Largest | None) -> Cell:
    if largest is None:
        return "n/a"
    if largest.exact:
        return f"{largest.batch:,}" if largest.batch else ("does not fit", "yellow")
    return f">= {largest.batch:,}" if largest.batch else ("n/a", "red")


def _explain(page: Page, job: Job, largest: Largest) -> None:
    usable = find(job.target).usable_bytes
    said = [f"{job.target} {_without_batch(job)}: {units.counted(largest.compiles, 'compile', 'compiles')}"]
    if largest.fits is not None and largest.fits.needed_bytes is not None:
        needs = units.size(largest.fits.needed_bytes)
        said.append(f"{largest.batch:,} needs {needs} of {units.size(usable)}")
    if largest.above is not None and largest.above.needed_bytes is not None:
        said.append(f"the next {units.size(largest.above.needed_bytes)}")
    elif largest.above is not None and largest.above.reason:
        said.append(largest.above.reason)
    page.line("; ".join(said), indent=2)


def _largest_row(job: Job, largest: Largest) -> dict[str, Any]:
    fits, above = largest.fits, largest.above
    return {
        "target": job.target,
        "case": _without_batch(job),
        "largest_batch": largest.batch,
        "exact": largest.exact,
        "compiles": largest.compiles,
        "needed_bytes": None if fits is None else fits.needed_bytes,
        "next_needed_bytes": None if above is None else above.needed_bytes,
        "capacity_bytes": find(job.target).usable_bytes,
        "reason": None if above is None else above.reason,
    }


def _versions(answer: Forecast) -> str:
    return ", ".join(f"{name} {version}" for name, version in answer.versions.items())
