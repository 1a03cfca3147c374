"""The flags of every verb, with examples. Imports nothing that a verb needs."""

from __future__ import annotations

import argparse
import difflib
import importlib
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from suite import __version__

_PLATFORMS = ("cpu", "gpu", "cuda", "rocm", "tpu")


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line. The chosen verb is in `verb`, a function."""
    parser = _Parser(
        prog="jaxmark",
        description="Benchmark Flax NNX models, unchanged, on CPU, GPU and TPU.",
        epilog=_examples(
            "jaxmark run                        measure the quick config on what JAX finds here",
            "jaxmark run --workload gpt         one model",
            "jaxmark show results/*/*.json      look at a result file",
            "jaxmark compare BASE NEW           which cases got faster or slower, and how sure that is",
            "jaxmark list                       workloads, presets and configs",
            "jaxmark devices                    what JAX has here, and what it does not use",
            "jaxmark VERB --help                more on each, with examples",
        ),
    )
    parser.add_argument("--version", action="version", version=f"jaxmark {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=_Parser)
    _add_run(verbs)
    _add_show(verbs)
    _add_compare(verbs)
    _add_noise(verbs)
    _add_portability(verbs)
    _add_export(verbs)
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
        epilog=_examples(
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
    run.set_defaults(verb=_verb("suite.cli.run", "run"))
    run.add_argument("config", nargs="?", metavar="CONFIG", help="a name or a path (default: quick)")
    _add_selection(run.add_argument_group("what to measure"))
    how = run.add_argument_group("how")
    how.add_argument("--processes", type=int, metavar="N", help="fresh processes per case")
    how.add_argument(
        "--budget", metavar="TIME", help="start no process known to end later than this: 90s, 5m, 1h"
    )
    how.add_argument("--timeout", metavar="TIME", help="end a process after this long")
    how.add_argument("--platform", choices=_PLATFORMS, help="run on this; by default JAX's own choice")
    how.add_argument(
        "--require", choices=_PLATFORMS, help="exit 2 before anything runs if JAX runs on another"
    )
    how.add_argument("--yes", action="store_true", help="go ahead with a run of more than 30 minutes")
    how.add_argument(
        "--dry-run", action="store_true", help="show the cases and estimates, and measure nothing"
    )
    files = run.add_argument_group("files")
    files.add_argument("--out", default="results", metavar="DIR", help="results folder (default: results)")
    files.add_argument("--resume", metavar="FILE", help="go on with the run in this file or journal")
    files.add_argument("--machine", metavar="NAME", help="name this machine, for throw-away CI runners")


def _add_selection(what: Any) -> None:
    what.add_argument(
        "--workload", metavar="W", help="a name from `jaxmark list`, or file.py:name for your own"
    )
    for name, text in (
        ("preset", "size"),
        ("mode", "train, infer, ..."),
        ("precision", "fp32, default, bf16, fp16"),
        ("batch", "batch size"),
        ("layers", "scan, unroll"),
    ):
        what.add_argument(
            f"--{name}", metavar=name[0].upper(), help=f"{text}; several with commas. With --workload"
        )
    what.add_argument(
        "--only", metavar="GLOB", help="keep the cases whose key matches, such as 'gpt/*/train/*'"
    )
    what.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="K=V",
        dest="overrides",
        help="change a key of [run], or a field of every case: --set precision=bf16 --set block_seconds=1",
    )


def _add_show(verbs: Any) -> None:
    show = verbs.add_parser(
        "show",
        help="print a result file as a table",
        description="Print a result file, or the journal of a run that is going on, as a table.",
        epilog=_examples(
            "jaxmark show results/cpu-x/RUN.json",
            "jaxmark show RUN.json --case 'gpt/*'     everything about some cases",
            "jaxmark show RUN.json --format tsv       a row for each case, for scripts",
        ),
    )
    show.set_defaults(verb=_verb("suite.cli.verbs", "show"))
    show.add_argument("files", nargs="+", metavar="FILE", help="result files or journals")
    show.add_argument("--case", metavar="KEY", help="everything about one case; a key or a glob")
    show.add_argument("--format", choices=("text", "json", "tsv"), default="text")


def _add_compare(verbs: Any) -> None:
    compare = verbs.add_parser(
        "compare",
        help="verdicts between runs of one machine, speed-ups between machines",
        description="Compare runs with the first. On one machine each case gets a verdict;\n"
        "between machines, speed-ups with intervals. A folder or a quoted glob stands\n"
        "for the newest result of each case in it, and is a side for each machine in it.",
        epilog=_examples(
            "jaxmark compare before.json after.json",
            "jaxmark compare before.json after.json --strict     exit 4 where nothing can be said",
            "jaxmark compare cpu.json l4.json v5e.json           a column for each machine",
            "jaxmark compare old/ new/ --metric memory --format markdown >> $GITHUB_STEP_SUMMARY",
        )
        + "\n\nexit codes:\n  0 fine; 1 a regression, or a case that failed or is missing; 2 bad input;\n"
        "  3 nothing comparable; 4 inconclusive, with --strict",
    )
    compare.set_defaults(verb=_verb("suite.cli.compare", "compare"))
    compare.add_argument("base", metavar="BASE", help="a result file, a folder or a glob")
    compare.add_argument("new", nargs="*", metavar="NEW", help="likewise; one or more")
    compare.add_argument(
        "--threshold", default="5%", metavar="SHARE", help="a change that matters: 5%% (default) or 0.05"
    )
    compare.add_argument(
        "--metric",
        choices=("step_time", "latency", "tail", "memory", "compile"),
        default="step_time",
        help="step_time (default), latency of single steps, their 95th percentile (tail), peak memory or "
        "compile time",
    )
    compare.add_argument("--strict", action="store_true", help="exit 4 if a case is inconclusive")
    compare.add_argument("--format", choices=("text", "json", "markdown", "csv"), default="text")


def _add_noise(verbs: Any) -> None:
    noise = verbs.add_parser(
        "noise",
        help="how much whole runs differ here by themselves; compare asks for more than that",
        description="Find the noise floor of each case from whole runs of one machine at different times,\n"
        "and keep it for `jaxmark compare`. Without files, print the floors that are kept.",
        epilog=_examples(
            "jaxmark run quick          seven times or more, over a day or a week; then",
            "jaxmark noise results/     find the floors and keep them",
            "jaxmark noise              print them",
        ),
    )
    noise.set_defaults(verb=_verb("suite.cli.compare", "noise"))
    noise.add_argument("results", nargs="*", metavar="RESULT", help="result files, folders or globs")
    noise.add_argument("--format", choices=("text", "json"), default="text")


def _add_portability(verbs: Any) -> None:
    portability = verbs.add_parser(
        "portability",
        help="which workloads compile for GPUs and TPUs that are not here, in how much memory",
        description="Compile workloads for chips that are not here, with the chips' own compilers, and run\n"
        "nothing. On Linux x86-64; makes an environment for the compilers first (.venv-forecast).",
        epilog=_examples(
            "jaxmark portability                                    the smoke presets, for four chips",
            "jaxmark portability --target a100-80gb,v5p --precision fp32,native",
            "jaxmark portability --target t4 --only 'gpt/124m/*'    one model's full size",
        )
        + "\n\nexit codes:\n  0 each case compiles, or is only too large for its chip; 1 one does not;\n"
        "  2 bad input, or no compilers here",
    )
    portability.set_defaults(verb=_verb("suite.cli.portability", "portability"))
    portability.add_argument(
        "--target", default="t4,h100,v5e,v6e", metavar="CHIPS", help="with commas (default: t4,h100,v5e,v6e)"
    )
    portability.add_argument(
        "--precision",
        default="native",
        metavar="P",
        help="fp32, default, bf16, fp16, or native: the 16 bits that a chip has units for (default: native)",
    )
    portability.add_argument(
        "--only", metavar="GLOB", help="cases of any preset whose key matches; by default the smoke presets"
    )
    portability.add_argument(
        "--timeout", default="10m", metavar="TIME", help="give a case up after this long (default: 10m)"
    )
    portability.add_argument(
        "--python", metavar="PATH", help="an environment that has the compilers, in place of one made here"
    )
    portability.add_argument("--format", choices=("text", "json"), default="text")


def _add_export(verbs: Any) -> None:
    export = verbs.add_parser(
        "export",
        help="print result files as other tools read them",
        description="Print result files in the format of another tool. Cases that were not measured have no\n"
        "place in most of them; they are named on stderr.",
        epilog=_examples(
            "jaxmark export --to pytest-benchmark RUN.json          pytest-benchmark compare reads it",
            "jaxmark export --to github-action-benchmark RUN.json   its tool customSmallerIsBetter",
            "jaxmark export --to bencher RUN.json                   bencher run --adapter json --file ...",
            "jaxmark export --to csv results/                       a row for each case of each file",
        ),
    )
    export.set_defaults(verb=_verb("suite.cli.compare", "export"))
    export.add_argument(
        "--to", required=True, choices=("pytest-benchmark", "github-action-benchmark", "bencher", "csv")
    )
    export.add_argument("files", nargs="+", metavar="FILE", help="result files, folders or globs")


def _add_validate(verbs: Any) -> None:
    validate = verbs.add_parser(
        "validate",
        help="check that result files are whole and agree with themselves",
        description="Check result files: schema, rules and derived figures. Exit 2 if one is not valid.",
        epilog=_examples("jaxmark validate results/*/*.json"),
    )
    validate.set_defaults(verb=_verb("suite.cli.verbs", "validate"))
    validate.add_argument("files", nargs="+", metavar="FILE", help="result files or journals")


def _add_list(verbs: Any) -> None:
    listing = verbs.add_parser(
        "list",
        help="workloads, presets and configs",
        description="List workloads with their presets, parameters and FLOPs, and the configs.",
        epilog=_examples("jaxmark list", "jaxmark list --format json | jq ."),
    )
    listing.set_defaults(verb=_verb("suite.cli.verbs", "list_all"))
    listing.add_argument("--format", choices=("text", "json", "tsv"), default="text")


def _add_devices(verbs: Any) -> None:
    devices = verbs.add_parser(
        "devices",
        help="what JAX has here, and what it does not use",
        description="Show what JAX sees and what the machine has, and how to mend what does not fit.",
        epilog=_examples(
            "jaxmark devices", "jaxmark devices --platform cpu", "jaxmark devices --format json"
        ),
    )
    devices.set_defaults(verb=_verb("suite.cli.verbs", "devices"))
    devices.add_argument("--platform", choices=_PLATFORMS, help="by default JAX's own choice")
    devices.add_argument("--format", choices=("text", "json"), default="text")


def _add_schema(verbs: Any) -> None:
    schema = verbs.add_parser(
        "schema",
        help="print the JSON Schema of result files",
        description="Print the JSON Schema of result files.",
        epilog=_examples("jaxmark schema > jaxmark.schema.json"),
    )
    schema.set_defaults(verb=_verb("suite.cli.verbs", "schema"))


def _verb(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """A function that imports its module when it is called."""

    def call(asked: argparse.Namespace) -> int:
        code: int = getattr(importlib.import_module(module), name)(asked)
        return code

    return call


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f". Did you mean {close[0]}?" if close else ""


def _examples(*lines: str) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)
