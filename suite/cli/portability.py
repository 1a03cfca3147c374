"""`jaxmark portability`."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from suite.cli.exits import ALL_OK, NOT_ALL_OK
from suite.cli.flags import add_compilers, add_native_precision, examples

if TYPE_CHECKING:
    from suite.forecast.protocol import Job
    from suite.record.forecast import Forecast


def add_parser(verbs: Any) -> None:
    """Adds `portability` to the verbs."""
    parser = verbs.add_parser(
        "portability",
        help="which workloads compile for GPUs and TPUs that are not here, in how much memory",
        description="Compile workloads for chips that are not here, with the chips' own compilers, and run\n"
        "nothing. On Linux x86-64; makes an environment for the compilers first (.venv-forecast).",
        epilog=examples(
            "jaxmark portability                                    the smoke presets, for four chips",
            "jaxmark portability --target a100-80gb,v5p --precision fp32,native",
            "jaxmark portability --target t4 --only 'gpt/124m/*'    one model's full size",
            "jaxmark portability --target all --largest             what of each model fits each chip",
        )
        + "\n\nexit codes:\n  0 each case compiles, or is only too large for its chip; 1 one does not;\n"
        "  2 bad input, or no compilers here",
    )
    parser.set_defaults(verb=portability)
    parser.add_argument(
        "--target",
        default="t4,h100,v5e,v6e",
        metavar="CHIPS",
        help="or all (default: %(default)s)",
    )
    add_native_precision(parser)
    parser.add_argument(
        "--only", metavar="GLOB", help="cases of any preset whose key matches, several with commas"
    )
    parser.add_argument(
        "--largest", action="store_true", help="of each workload and mode the largest preset that fits"
    )
    parser.add_argument(
        "--all-layers", action="store_true", help="layers scanned and unrolled, not only as by default"
    )
    add_compilers(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def portability(asked: Namespace) -> int:
    """Compiles cases for chips that are not here; 1 if one does not compile.

    Raises:
        ConfigError: a target, a precision or a duration is unknown, or nothing matches.
        PlatformError: there are no compilers for this system, or they cannot be installed.
    """
    from suite.forecast import known, portability
    from suite.forecast.compiler import Compiler
    from suite.forecast.environment import given_or_made
    from suite.forecast.targets import find
    from suite.report import portability as report
    from suite.report.text import make_console
    from suite.spec.durations import parse_duration

    groups = _groups(asked)
    timeout_s = parse_duration(asked.timeout)
    python = given_or_made(asked.python)
    with Compiler(python, {find(group[0].target).platform for group in groups}, timeout_s) as compiler:
        answers = portability.run_largest(groups, compiler, tell)
    problems = known.load()
    if asked.format == "json":
        print(report.as_json(answers))
    else:
        report.show_portability(answers, problems, make_console())
    return ALL_OK if portability.all_answered(answers, problems) else NOT_ALL_OK


def _groups(asked: Namespace) -> list[list[Job]]:
    """What to compile: one case, or with --largest the presets of one, down to the first that fits."""
    from suite.forecast import targets
    from suite.forecast.portability import plan, plan_largest

    precisions = [part.strip() for part in asked.precision.split(",")]
    chips = targets.all_targets() if asked.target == "all" else targets.parse(asked.target)
    if asked.largest:
        return plan_largest(chips, precisions, asked.only)
    return [[job] for job in plan(chips, precisions, asked.only, all_layers=asked.all_layers)]


def tell(number: int, total: int, answer: Forecast) -> None:
    """Says on stderr, in a line, what a case came to; `forecast` does so too."""
    from suite.report import portability as report
    from suite.report.text import clean

    print(clean(report.progress(number, total, answer)), file=sys.stderr, flush=True)
