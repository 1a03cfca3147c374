"""The command line as a whole, and the flags of verbs that need much; imports nothing that a verb needs.

The other verbs have their flags beside them, and import what they need when they are called.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from suite import __version__
from suite.cli import ab, compare, exporting, forecast, history, importing, learn, noise, portability
from suite.cli.flags import PLATFORMS, add_files, add_platform, add_selection, examples, verb


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line. The chosen verb is in `verb`, a function."""
    parser = _Parser(
        prog="jaxmark",
        description="Benchmark Flax NNX models, unchanged, on CPU, GPU and TPU.",
        epilog=examples(
            "jaxmark run                        measure the quick config on what JAX finds here",
            "jaxmark run --workload gpt         one model",
            "jaxmark show results/*/*.json      look at a result file",
            "jaxmark compare BASE NEW           which cases got faster or slower, and how sure that is",
            "jaxmark ab --new-python VENV       the same of two environments, measured side by side",
            "jaxmark list                       workloads, presets and configs",
            "jaxmark devices                    what JAX has here, and what it does not use",
            "jaxmark VERB --help                more on each, with examples",
        ),
    )
    parser.add_argument("--version", action="version", version=f"jaxmark {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=_Parser)
    _add_run(verbs)
    _add_show(verbs)
    compare.add_parser(verbs)
    history.add_parser(verbs)
    ab.add_parser(verbs)
    noise.add_parser(verbs)
    learn.add_parser(verbs)
    portability.add_parser(verbs)
    forecast.add_parser(verbs)
    exporting.add_parser(verbs)
    importing.add_parser(verbs)
    _add_validate(verbs)
    _add_list(verbs)
    _add_devices(verbs)
    _add_schema(verbs)
    return parser


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        # An abbreviation that works today breaks when a flag is added tomorrow.
        super().__init__(**settings, allow_abbrev=False)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does it, but a verb names its own flag that is nearest to one it does not know."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flags = re.findall(r"--[a-z-]+", self.format_usage())
            guess = _nearest(unknown[0].partition("=")[0], flags)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{guess}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, what may have been meant and where the rest stands; exits with 2."""
        if message.endswith("required: VERB"):
            self.exit(2, self.format_help())
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += _nearest(wrong[1], re.findall(r"[\w-]+", wrong[2]))
        self.exit(2, f"jaxmark: {message}\nSee: {self.prog} --help\n")


def _add_run(verbs: Any) -> None:
    run = verbs.add_parser(
        "run",
        help="measure cases and write one result file",
        description="Measure the cases of a config, or one workload, and write one result file.",
        epilog=examples(
            "jaxmark run                                    the config 'quick'",
            "jaxmark run standard --dry-run                 what it would measure, and for how long",
            "jaxmark run configs/mine.toml --only 'gpt/*'   some cases of a config of your own",
            "jaxmark run --set precision=bf16 --budget 5m   the same cases in bf16, for five minutes",
            "jaxmark run --workload mlp --batch 64,256 --precision fp32,bf16",
            "jaxmark run --workload my_model.py:make        a model of your own",
            "jaxmark run --require gpu                      exit 2 rather than measure a CPU",
            "jaxmark run --resume results/cpu-x/RUN.json    do what a stopped run still misses",
        ),
    )
    run.set_defaults(verb=verb("suite.cli.run", "run"))
    run.add_argument("config", nargs="?", metavar="CONFIG", help="a name or a path (default: quick)")
    add_selection(run.add_argument_group("what to measure"))
    how = run.add_argument_group("how")
    how.add_argument("--processes", type=int, metavar="N", help="fresh processes per case")
    how.add_argument(
        "--budget", metavar="TIME", help="start no process known to end later than this: 90s, 5m, 1h"
    )
    how.add_argument("--timeout", metavar="TIME", help="end a process after this long")
    add_platform(how)
    how.add_argument("--yes", action="store_true", help="go ahead with a run of more than 30 minutes")
    how.add_argument(
        "--dry-run", action="store_true", help="show the cases and estimates, and measure nothing"
    )
    files = run.add_argument_group("files")
    add_files(files)
    files.add_argument("--resume", metavar="FILE", help="go on with the run in this file or journal")


def _add_show(verbs: Any) -> None:
    show = verbs.add_parser(
        "show",
        help="print a result file as a table",
        description="Print a result file, or the journal of a run that is going on, as a table.",
        epilog=examples(
            "jaxmark show results/cpu-x/RUN.json",
            "jaxmark show RUN.json --case 'gpt/*'     everything about some cases",
            "jaxmark show RUN.json --format tsv       a row for each case, for scripts",
            "jaxmark show RUN.json --forecast results/published/forecasts   beside chips that are not here",
        ),
    )
    show.set_defaults(verb=verb("suite.cli.verbs", "show"))
    show.add_argument("files", nargs="+", metavar="FILE", help="result files or journals")
    show.add_argument("--case", metavar="KEY", help="everything about one case; a key or a glob")
    show.add_argument(
        "--forecast", action="append", metavar="FILE", help="forecasts of the same cases, a file or a folder"
    )
    show.add_argument("--format", choices=("text", "json", "tsv"), default="text")


def _add_validate(verbs: Any) -> None:
    validate = verbs.add_parser(
        "validate",
        help="check that result files are whole and agree with themselves",
        description="Check result files: schema, rules and derived figures. Exit 2 if one is not valid.",
        epilog=examples("jaxmark validate results/*/*.json"),
    )
    validate.set_defaults(verb=verb("suite.cli.verbs", "validate"))
    validate.add_argument("files", nargs="+", metavar="FILE", help="result files or journals")


def _add_list(verbs: Any) -> None:
    listing = verbs.add_parser(
        "list",
        help="workloads, presets and configs",
        description="List workloads with their presets, parameters, FLOPs and memory, and the configs.",
        epilog=examples("jaxmark list", "jaxmark list gpt", "jaxmark list --format json | jq ."),
    )
    listing.set_defaults(verb=verb("suite.cli.verbs", "list_all"))
    listing.add_argument("workload", nargs="?", metavar="WORKLOAD", help="only this one, in detail")
    listing.add_argument("--format", choices=("text", "json", "tsv"), default="text")


def _add_devices(verbs: Any) -> None:
    devices = verbs.add_parser(
        "devices",
        help="what JAX has here, and what it does not use",
        description="Show what JAX sees and what the machine has, and how to mend what does not fit.",
        epilog=examples("jaxmark devices", "jaxmark devices --platform cpu", "jaxmark devices --format json"),
    )
    devices.set_defaults(verb=verb("suite.cli.verbs", "devices"))
    devices.add_argument("--platform", choices=PLATFORMS, help="by default JAX's own choice")
    devices.add_argument("--format", choices=("text", "json"), default="text")


def _add_schema(verbs: Any) -> None:
    schema = verbs.add_parser(
        "schema",
        help="print the JSON Schema of result files",
        description="Print the JSON Schema of result files.",
        epilog=examples("jaxmark schema > jaxmark.schema.json"),
    )
    schema.set_defaults(verb=verb("suite.cli.verbs", "schema"))


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f". Did you mean {close[0]}?" if close else ""
