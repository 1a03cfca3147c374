"""`jaxmark noise`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from suite.cli.flags import examples


def add_parser(verbs: Any) -> None:
    """Adds `noise` to the verbs."""
    parser = verbs.add_parser(
        "noise",
        help="how much whole runs differ here by themselves; compare asks for more than that",
        description="Find the noise floor of each case from whole runs of one machine at different times,\n"
        "and keep it for `jaxmark compare`. Without files, print the floors that are kept.",
        epilog=examples(
            "jaxmark run quick          seven times or more, over a day or a week; then",
            "jaxmark noise results/     find the floors and keep them",
            "jaxmark noise              print them",
        )
        + "\n\nexit codes:\n  0 fine; 2 bad input, or too few runs to say anything",
    )
    parser.set_defaults(verb=noise)
    parser.add_argument("results", nargs="*", metavar="RESULT", help="result files, folders or globs")
    parser.add_argument("--format", choices=("text", "json"), default="text")


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
