"""`jaxmark ab`: two environments of one machine, measured in interleaved pairs."""

from __future__ import annotations

from typing import Any

from suite.cli.flags import add_files, add_metric, add_platform, add_selection, add_threshold, examples, verb

SIDES = ("base", "new")


def add_parser(verbs: Any) -> None:
    """Adds `ab` to the verbs."""
    parser = verbs.add_parser(
        "ab",
        help="verdicts between two environments here: interpreters, flags, revisions of a workload",
        description="Measure two environments of this machine in interleaved pairs of fresh processes, and\n"
        "say which cases got faster or slower. Cases are looked at after 8, 16 and 32 pairs; one that\n"
        "has its verdict is measured no further. Each side is kept in a result file of its own.",
        epilog=examples(
            "jaxmark ab quick --base-python venvs/jax-0.10 --new-python venvs/jax-0.12",
            "jaxmark ab --workload gpt --new-env XLA_FLAGS=--xla_cpu_enable_fast_math=true",
            "jaxmark ab --workload mlp --base-env OMP_NUM_THREADS=1 --new-env OMP_NUM_THREADS=2",
            "git show main:model.py > /tmp/model.py",
            "jaxmark ab --base-workload /tmp/model.py:make --new-workload model.py:make",
            "jaxmark ab smoke --budget 20m --strict --format markdown >> $GITHUB_STEP_SUMMARY",
            "jaxmark compare BASE.json NEW.json                  the verdicts again, from the files",
        )
        + "\n\nexit codes:\n  0 fine; 1 a regression, or a case that failed; 2 bad input;\n"
        "  3 nothing comparable; 4 inconclusive, with --strict; 130 interrupted",
    )
    parser.set_defaults(verb=verb("suite.cli.ab_run", "ab"))
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="a name or a path (default: quick)")
    _add_sides(parser.add_argument_group("the two sides"))
    add_selection(parser.add_argument_group("what to measure"))
    _add_how(parser.add_argument_group("how"))
    add_files(parser.add_argument_group("files"))


def _add_sides(group: Any) -> None:
    for side in SIDES:
        group.add_argument(
            f"--{side}-python",
            metavar="PATH",
            help=f"interpreter or virtual environment of {side} (default: jaxmark's own); "
            "jaxmark need not be installed there",
        )
    for side in SIDES:
        group.add_argument(
            f"--{side}-env",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"environment variable of {side}, again and again",
        )
    for side in SIDES:
        group.add_argument(
            f"--{side}-workload", metavar="FILE.py:NAME", help=f"workload of your own as {side} has it"
        )


def _add_how(group: Any) -> None:
    add_threshold(group)
    add_metric(group)
    group.add_argument(
        "--budget", metavar="TIME", help="go for no further look that would take longer: 90s, 5m, 1h"
    )
    group.add_argument("--timeout", metavar="TIME", help="end a process after this long")
    add_platform(group)
    group.add_argument("--strict", action="store_true", help="exit 4 if a case is inconclusive")
    group.add_argument("--yes", action="store_true", help="go ahead though it may take more than 30 minutes")
    group.add_argument("--format", choices=("text", "json", "markdown", "csv"), default="text")
