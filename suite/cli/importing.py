"""`jaxmark import`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from suite.cli.exits import ALL_OK, NOTHING
from suite.cli.flags import examples, print_safely, tell


def add_parser(verbs: Any) -> None:
    """Adds `import` to the verbs."""
    parser = verbs.add_parser(
        "import",
        help="write a result file of another tool's results",
        description="Write a result file of what another tool measured, for show, compare and history. What\n"
        "its file does not say is null. Prints where the result file is.",
        epilog=examples(
            "jaxmark import .benchmarks/RUN.json --from pytest-benchmark",
            "jaxmark import bench.json --from pytest-benchmark -o results/before.json",
        )
        + "\n\nexit codes:\n  0 fine; 2 bad input, or another tool's; 3 nothing in it could be imported",
    )
    parser.set_defaults(verb=import_file)
    parser.add_argument("file", metavar="FILE", help="what the tool wrote")
    parser.add_argument("--from", required=True, dest="tool", choices=("pytest-benchmark",))
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="the result file to write (default: FILE with .jaxmark.json)"
    )


def import_file(asked: Namespace) -> int:
    """Writes a result file; 3 if nothing in the other tool's could be imported.

    Raises:
        ResultFileError: the file cannot be read, or is not of that tool.
        ConfigError: there is a file already.
        StorageError: it cannot be written.
    """
    from suite.bridges import importing
    from suite.report.text import clean

    path = Path(asked.file)
    file, left_out = importing.read(path, asked.tool)
    for reason in left_out:
        tell(f"left out {reason}")
    if file is None:
        tell(f"nothing in {path} could be imported" + ("" if left_out else ": it has no benchmarks"))
        return NOTHING
    out = Path(asked.out) if asked.out is not None else path.with_suffix(".jaxmark.json")
    importing.write(file, out)
    print_safely(clean(str(out)))
    return ALL_OK
