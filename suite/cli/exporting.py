"""`jaxmark export`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from suite.cli.exits import ALL_OK, NOTHING
from suite.cli.flags import examples, print_safely, tell
from suite.errors import ConfigError, StorageError


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
            "jaxmark export --to parquet results/ -o runs.parquet   a row for each process",
        )
        + "\n\nexit codes:\n  0 fine; 2 bad input; 3 nothing in it was measured",
    )
    parser.set_defaults(verb=export)
    parser.add_argument(
        "--to",
        required=True,
        choices=("pytest-benchmark", "github-action-benchmark", "bencher", "csv", "parquet"),
    )
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="write to this file, and not to the screen; parquet needs it"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="result files, folders or globs")


def export(asked: Namespace) -> int:
    """Prints result files in another tool's format; 3 if none of their cases was measured.

    Raises:
        ResultFileError: a file cannot be read.
        ConfigError: the format has no room for all of them, or needs a file or a package.
        StorageError: the file cannot be written.
    """
    if asked.to == "parquet":
        return _parquet(asked)
    from suite.analysis.sides import gather
    from suite.bridges.exporting import export as write

    gathered = gather(asked.files)
    exported = write([source for side in gathered.sides for source in side.runs], asked.to)
    _say_left_out((*gathered.skipped, *exported.left_out))
    if asked.out is None:
        print_safely(exported.text)
    else:
        _write(Path(asked.out), exported.text)
    return ALL_OK if exported.cases else NOTHING


def _parquet(asked: Namespace) -> int:
    from suite.bridges import parquet

    if asked.out is None:
        raise ConfigError("--to parquet: it is no text; name a file for it with -o FILE.parquet")
    rows, skipped = parquet.write(asked.files, Path(asked.out))
    _say_left_out(skipped)
    return ALL_OK if rows else NOTHING


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"Cannot write {path}: {error.strerror or error}. Name another with -o FILE."
        ) from error


def _say_left_out(reasons: Iterable[str]) -> None:
    for reason in reasons:
        tell(f"left out {reason}")
