"""`jaxmark history`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from suite.cli.compare import parse_threshold
from suite.cli.exits import ALL_OK, NOTHING
from suite.cli.flags import add_metric, add_threshold, examples, print_safely, tell


def add_parser(verbs: Any) -> None:
    """Adds `history` to the verbs."""
    parser = verbs.add_parser(
        "history",
        help="a machine's cases over many runs, and where they changed",
        description="Follow each case over all runs in a folder, a section for each machine, and say where\n"
        "it changed: by how much, and with which change of software. Files are read once, and\n"
        "their summaries kept in the user's cache folder.",
        epilog=examples(
            "jaxmark history results/",
            "jaxmark history results/ --case 'gpt/*' --metric memory",
            "jaxmark history results/ --machine ci-runner --threshold 2%",
            "jaxmark history results/ --format csv > history.csv      a line for each case and run",
            "jaxmark history results/ --format json | jq '.machines[].cases[] | select(.changes != [])'",
        )
        + "\n\nexit codes:\n  0 fine, whatever changed; 2 bad input; 3 no run has a figure to show",
    )
    parser.set_defaults(verb=history)
    parser.add_argument("results", nargs="+", metavar="FOLDER", help="folders; files and quoted globs too")
    parser.add_argument("--case", metavar="GLOB", help="the cases whose key matches, such as 'gpt/*/train/*'")
    add_metric(parser)
    parser.add_argument(
        "--machine", metavar="NAME", help="the machine of this id, or those that match a glob"
    )
    add_threshold(parser, "leave out smaller changes")
    parser.add_argument("--format", choices=("text", "json", "csv", "markdown"), default="text")


def history(asked: Namespace) -> int:
    """Prints the history of the runs below some folders; 3 if there is nothing to show.

    Raises:
        ResultFileError: a file cannot be read, or nothing in a folder can be.
        ConfigError: a flag cannot be understood, or no case or machine matches.
    """
    from suite.analysis.history import history as follow

    found = follow(
        asked.results,
        asked.metric,
        case=asked.case,
        machine=asked.machine,
        threshold=parse_threshold(asked.threshold),
        say=tell,
    )
    for note in found.notes:
        tell(note)
    if asked.format == "text":
        from suite.report.history.text import show_history
        from suite.report.text import make_console

        show_history(found, make_console())
    elif asked.format == "markdown":
        from suite.report.history.markdown import as_markdown

        print_safely(as_markdown(found))
    else:
        from suite.report.history import data

        print_safely(data.as_json(found) if asked.format == "json" else data.as_csv(found))
    return ALL_OK if any(series.values for series in found.series) else NOTHING
