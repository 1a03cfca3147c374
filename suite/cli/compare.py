"""`jaxmark compare`: from flags to a report and an exit code."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from suite.cli.flags import add_metric, add_threshold, examples, print_safely, tell
from suite.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suite.analysis.compare import Comparison, MarginOf
    from suite.analysis.metrics import Metric
    from suite.analysis.sides import Side
    from suite.analysis.verdict import Margin

_PERCENT_MOST = 1000.0


def add_parser(verbs: Any) -> None:
    """Adds `compare` to the verbs."""
    parser = verbs.add_parser(
        "compare",
        help="verdicts between runs of one machine, speed-ups between machines",
        description="Compare runs with the first. On one machine each case gets a verdict;\n"
        "between machines, speed-ups with intervals. A folder or a quoted glob stands\n"
        "for the newest result of each case in it, and is a side for each machine in it.",
        epilog=examples(
            "jaxmark compare before.json after.json",
            "jaxmark compare before.json after.json --strict     exit 4 where nothing can be said",
            "jaxmark compare cpu.json l4.json v5e.json           a column for each machine",
            "jaxmark compare old/ new/ --metric memory --format markdown >> $GITHUB_STEP_SUMMARY",
        )
        + "\n\nexit codes:\n  0 fine; 1 a regression, or a case that failed or is missing; 2 bad input;\n"
        "  3 nothing comparable; 4 inconclusive, with --strict",
    )
    parser.set_defaults(verb=compare)
    parser.add_argument("base", metavar="BASE", help="a result file, a folder or a glob")
    parser.add_argument("new", nargs="*", metavar="NEW", help="likewise; one or more")
    add_threshold(parser)
    add_metric(parser)
    parser.add_argument("--strict", action="store_true", help="exit 4 if a case is inconclusive")
    parser.add_argument("--format", choices=("text", "json", "markdown", "csv"), default="text")


def compare(asked: Namespace) -> int:
    """Compares runs; 0 fine, 1 regression or failed case, 3 nothing comparable, 4 inconclusive (--strict).

    Raises:
        ResultFileError: a file cannot be read.
        ConfigError: a flag cannot be understood, a run is there twice, or there is only one.
        StorageError: this machine's noise floors cannot be read.
    """
    from suite.analysis.compare import compare as compare_sides
    from suite.analysis.paired import are_partners, compare_pairs
    from suite.analysis.sides import gather

    threshold = parse_threshold(asked.threshold)
    gathered = gather([asked.base, *asked.new], newest_only=True, say=tell)
    for note in gathered.notes:
        tell(note)
    if are_partners(gathered):
        return report(compare_pairs(gathered, asked.metric, threshold), asked.format, asked.strict)
    margin_of = _margins(gathered.sides, asked.metric, threshold)
    comparison = compare_sides(gathered, asked.metric, threshold, margin_of)
    return report(comparison, asked.format, asked.strict)


def report(comparison: Comparison, form: str, strict: bool) -> int:
    """Prints a comparison as 'text', 'markdown', 'json' or 'csv', and returns its exit code."""
    from suite.analysis.compare import exit_code

    if form == "text":
        from suite.report.comparing.text import show_comparison
        from suite.report.text import make_console

        show_comparison(comparison, make_console())
    elif form == "markdown":
        from suite.report.comparing.markdown import as_markdown

        print_safely(as_markdown(comparison))
    else:
        from suite.report.comparing import data

        print_safely(data.as_json(comparison, strict) if form == "json" else data.as_csv(comparison))
    return exit_code(comparison, strict)


def _margins(sides: Sequence[Side], metric: Metric, threshold: float) -> MarginOf:
    """The margin of each case, from the noise floors known of the base's machine."""
    from suite.analysis import noise
    from suite.analysis.verdict import assumed_margin

    machine = sides[0].environment.machine
    known = noise.known_floors(sides, metric)

    def margin_of(key: str, verdicts: int) -> Margin:
        floor = known.get(key)
        if floor is None:
            return assumed_margin(threshold, machine.platform)
        return noise.margin(floor, verdicts, threshold, machine.platform)

    return margin_of


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
