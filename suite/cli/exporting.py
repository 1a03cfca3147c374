"""`jaxmark export`."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from suite.cli.flags import examples, print_safely


def add_parser(verbs: Any) -> None:
    """Adds `export` to the verbs."""
    parser = verbs.add_parser(
        "export",
        help="print result files as other tools read them",
        description="Print result files in the format of another tool. Cases that were not measured have no\n"
        "place in most of them; they are named on stderr.",
        epilog=examples(
            "jaxmark export --to pytest-benchmark RUN.json          pytest-benchmark compare reads it",
            "jaxmark export --to github-action-benchmark RUN.json   its tool customSmallerIsBetter",
            "jaxmark export --to bencher RUN.json                   bencher run --adapter json --file ...",
            "jaxmark export --to csv results/                       a row for each case of each file",
        ),
    )
    parser.set_defaults(verb=export)
    parser.add_argument(
        "--to", required=True, choices=("pytest-benchmark", "github-action-benchmark", "bencher", "csv")
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="result files, folders or globs")


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
    print_safely(exported.text)
    return 0 if exported.cases else 3
