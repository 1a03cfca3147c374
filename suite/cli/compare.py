"""`jaxmark compare`, `noise` and `export`: from flags to a report and an exit code."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from suite.errors import ConfigError

if TYPE_CHECKING:
    from suite.analysis.compare import MarginOf
    from suite.analysis.verdict import Margin
    from suite.record.schema import Machine

_PERCENT_MOST = 1000.0


def compare(asked: Namespace) -> int:
    """Compares runs; 0 fine, 1 regression or failed case, 3 nothing comparable, 4 inconclusive (--strict).

    Raises:
        ResultFileError: a file cannot be read.
        ConfigError: a flag cannot be understood, a run is there twice, or there is only one.
        StorageError: this machine's noise floors cannot be read.
    """
    from suite.analysis.compare import compare as compare_sides
    from suite.analysis.compare import exit_code
    from suite.analysis.sides import gather

    threshold = parse_threshold(asked.threshold)
    gathered = gather([asked.base, *asked.new])
    margin_of = _margins(gathered.sides[0].environment.machine, asked.metric, threshold)
    comparison = compare_sides(gathered, asked.metric, threshold, margin_of)
    code = exit_code(comparison, asked.strict)
    if asked.format == "text":
        from suite.report.comparing.text import show_comparison
        from suite.report.text import make_console

        show_comparison(comparison, make_console())
    elif asked.format == "markdown":
        from suite.report.comparing.markdown import as_markdown

        _print(as_markdown(comparison))
    else:
        from suite.report.comparing import data

        _print(data.as_json(comparison, asked.strict) if asked.format == "json" else data.as_csv(comparison))
    return code


def _print(text: str) -> None:
    """Prints text with names from outside, as escapes where the output's encoding cannot hold them."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def _margins(machine: Machine, metric: str, threshold: float) -> MarginOf:
    """The margin of each case, from the noise floors kept for this machine."""
    from suite.analysis import noise
    from suite.analysis.verdict import assumed_margin
    from suite.record import floors

    known = {floor.key: floor for floor in floors.load(machine) if floor.metric == metric}

    def margin_of(key: str, verdicts: int) -> Margin:
        floor = known.get(key)
        if floor is None:
            return assumed_margin(threshold, machine.platform)
        return noise.margin(floor, verdicts, threshold, machine.platform)

    return margin_of


def noise(asked: Namespace) -> int:
    """Finds and keeps noise floors from whole runs; without any, prints those that are kept.

    Raises:
        ResultFileError: a file cannot be read.
        ConfigError: the runs are too few, overlap, or are of several machines.
        StorageError: the floors cannot be read or kept.
    """
    from suite.analysis import noise as analysis
    from suite.analysis.sides import gather
    from suite.record import floors
    from suite.report import noise as report
    from suite.report.text import make_console

    if not asked.results:
        found = floors.known()
        if asked.format == "json":
            print(report.as_json(found))
        else:
            report.show_known(found, floors.data_folder() / "noise", make_console())
        return 0
    gathered = gather(asked.results)
    sources = [source for side in gathered.sides for source in side.runs]
    measured = analysis.measure(sources)
    path = floors.keep(measured.machine, list(measured.floors))
    if asked.format == "json":
        print(report.as_json([floors.read(path)]))
    else:
        report.show_measured(measured, gathered.skipped, path, make_console())
    return 0


def export(asked: Namespace) -> int:
    """Prints result files in another tool's format; 3 if none of their cases was measured.

    Raises:
        ResultFileError: a file cannot be read.
        ConfigError: the format has no room for all of them.
    """
    from suite.analysis.sides import gather
    from suite.bridges.exporting import export as write

    gathered = gather(asked.files)
    exported = write([source for side in gathered.sides for source in side.runs], asked.to)
    for reason in (*gathered.skipped, *exported.left_out):
        print(f"jaxmark: left out {reason}", file=sys.stderr)
    _print(exported.text)
    return 0 if exported.cases else 3


def parse_threshold(text: str) -> float:
    """'5%' or '0.05' as a fraction.

    Raises:
        ConfigError: it is neither, or a number without '%' that can only be meant as percent.
    """
    expected = "--threshold: expected a share such as 5% or 0.05"
    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        value = float(number)
    except ValueError as error:
        raise ConfigError(f"{expected}, found {text!r}.") from error
    if percent and 0 < value <= _PERCENT_MOST:
        return value / 100
    if not percent and 0 < value < 1:
        return value
    meant = f" Did you mean {number}%?" if not percent and 1 <= value <= 100 else ""
    raise ConfigError(f"{expected}, above 0, found {text!r}.{meant}")
