"""`jaxmark portability`."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from suite.cli.exits import ALL_OK, NOT_ALL_OK
from suite.cli.flags import examples


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
        )
        + "\n\nexit codes:\n  0 each case compiles, or is only too large for its chip; 1 one does not;\n"
        "  2 bad input, or no compilers here",
    )
    parser.set_defaults(verb=portability)
    parser.add_argument(
        "--target", default="t4,h100,v5e,v6e", metavar="CHIPS", help="with commas (default: t4,h100,v5e,v6e)"
    )
    parser.add_argument(
        "--precision",
        default="native",
        metavar="P",
        help="fp32, default, bf16, fp16, or native: the 16 bits that a chip has units for (default: native)",
    )
    parser.add_argument(
        "--only", metavar="GLOB", help="cases of any preset whose key matches; by default the smoke presets"
    )
    parser.add_argument(
        "--timeout", default="10m", metavar="TIME", help="give a case up after this long (default: 10m)"
    )
    parser.add_argument(
        "--python", metavar="PATH", help="an environment that has the compilers, in place of one made here"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def portability(asked: Namespace) -> int:
    """Compiles cases for chips that are not here; 1 if one does not compile.

    Raises:
        ConfigError: a target, a precision or a duration is unknown, or nothing matches.
        PlatformError: there are no compilers for this system, or they cannot be installed.
    """
    from suite.forecast import targets
    from suite.forecast.environment import given_or_made
    from suite.forecast.portability import all_answered, plan, run
    from suite.report import portability as report
    from suite.report.text import clean, make_console
    from suite.spec.durations import parse_duration

    precisions = [part.strip() for part in asked.precision.split(",")]
    jobs = plan(targets.parse(asked.target), precisions, asked.only)
    timeout_s = parse_duration(asked.timeout)
    python = given_or_made(asked.python)
    answers = run(
        jobs,
        python,
        timeout_s,
        lambda *news: print(clean(report.progress(*news)), file=sys.stderr, flush=True),
    )
    if asked.format == "json":
        print(report.as_json(answers))
    else:
        report.show_portability(answers, make_console())
    return ALL_OK if all_answered(answers) else NOT_ALL_OK
