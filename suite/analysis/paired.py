"""The two sides of `jaxmark ab`: from pairs of processes to verdicts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from suite.analysis.compare import Comparison, Row, pair_up
from suite.analysis.identity import Difference
from suite.analysis.looks import latest_look, live, next_look
from suite.analysis.metrics import Metric, figure_of
from suite.analysis.sides import Gathered, Side
from suite.record.schema import Process, ResultFile

_CODE = "code of "


def are_partners(gathered: Gathered) -> bool:
    """Whether these are the two sides of one `jaxmark ab`, and nothing else."""
    files = [source.file for side in gathered.sides for source in side.runs]
    if len(gathered.sides) != 2 or len(files) != 2:
        return False
    one, other = (file.run.paired for file in files)
    return (
        one is not None
        and other is not None
        and (one.partner, other.partner) == (files[1].run.id, files[0].run.id)
    )


def compare_pairs(gathered: Gathered, metric: Metric, threshold: float) -> Comparison:
    """Compares the two sides of an `ab`, pair by pair.

    Args:
        gathered: two sides that are partners.
        metric: to compare.
        threshold: as a fraction.
    """
    base, new = gathered.sides
    cases = len(base.results)
    pairing = pair_up(base, new, metric)
    rows = tuple(_judged(row, metric, threshold, cases) for row in pairing.rows)
    known = [found for found in pairing.differences if not found.field.startswith(_CODE)]
    own = _own_differences(base, new, {found.field for found in known})
    pairing = replace(pairing, rows=rows, differences=(*own, *known))
    return Comparison(base, metric, threshold, cases, (pairing,), gathered.skipped, paired=True)


def differences(base: Sequence[Process], new: Sequence[Process], metric: Metric) -> list[float]:
    """Log of new over base for each pair that both have, in the order of the pairs."""
    before, after = _figures(base, metric), _figures(new, metric)
    return [math.log(after[n] / before[n]) for n in sorted(before.keys() & after.keys())]


def _own_differences(base: Side, new: Side, known: Collection[str]) -> Iterator[Difference]:
    """What was chosen for each side: interpreter, variables, and the file that a workload comes from."""
    before, after = (_chosen(side.sources[-1].file) for side in (base, new))
    for name in {**before, **after}:
        left, right = before.get(name, "not set"), after.get(name, "not set")
        if left != right and name not in known:
            yield Difference(name, left, right)


def _chosen(file: ResultFile) -> Mapping[str, str]:
    paired = file.run.paired
    chosen = {} if paired is None else {"interpreter": paired.python or "jaxmark's own", **paired.variables}
    own = [result for result in file.results if result.source is not None]
    return chosen | {_CODE + r.key: f"{r.source} {(r.source_sha256 or 'unknown')[:12]}" for r in own}


def _figures(processes: Sequence[Process], metric: Metric) -> Mapping[int, float]:
    found = ((process.index, figure_of(process, metric)) for process in processes)
    return {index: figure for index, figure in found if figure is not None}


def _judged(row: Row, metric: Metric, threshold: float, cases: int) -> Row:
    if row.ratio is None or row.base is None or row.new is None:
        return row
    found = differences(row.base.processes, row.new.processes, metric)
    if not found:
        return replace(row, state="no_figure", reason="no pair has it on both sides", ratio=None)
    look = latest_look(found, threshold, cases)
    if look is not None and (look.final or look.pairs == len(found)):
        return replace(row, ratio=look.verdict.ratio, verdict=look.verdict, pairs=look.pairs)
    coming = next_look(len(found))
    count = "1 pair" if len(found) == 1 else f"{len(found)} pairs"
    reason = f"it ended after {count}, and the next verdict may be given after {coming}"
    return replace(
        row, state="not_a_verdict", reason=reason, ratio=None, live=live(found, cases), pairs=len(found)
    )
