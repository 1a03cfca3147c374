"""`jaxmark learn`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from suite.cli.exits import ALL_OK, INTERRUPTED, NOT_ALL_OK
from suite.cli.flags import PLATFORMS, add_files, examples


def add_parser(verbs: Any) -> None:
    """Adds `learn` to the verbs."""
    parser = verbs.add_parser(
        "learn",
        help="train on real data until a target is reached, and say how long it took",
        description="Train models on real data that ships inside installed packages, until they reach a\n"
        "target on data held out. The model and the step are those that `jaxmark run` measures.",
        epilog=examples(
            "jaxmark learn                       every task of the config 'learn', from three seeds",
            "jaxmark learn --only 'digits/*'     handwritten digits only",
            "jaxmark learn mine.toml --seeds 10  tasks of your own, from ten seeds",
        )
        + "\n\nexit codes:\n  0 every seed reached its target; 1 one did not; 2 bad input, or no data here",
    )
    parser.set_defaults(verb=learn)
    parser.add_argument(
        "config", nargs="?", default="learn", metavar="CONFIG", help="a name or a path (default: learn)"
    )
    parser.add_argument("--only", metavar="GLOB", help="keep the tasks whose key matches, such as 'digits/*'")
    parser.add_argument("--seeds", type=int, metavar="N", help="fresh processes per task")
    parser.add_argument("--timeout", metavar="TIME", help="end a process after this long: 90s, 5m, 1h")
    parser.add_argument("--platform", choices=PLATFORMS, help="run on this; by default JAX's own choice")
    add_files(parser)


def learn(asked: Namespace) -> int:
    """Trains every task from every seed; 1 if a target was not reached.

    Raises:
        ConfigError: the config cannot be understood, or nothing matches.
        PlatformError: the platform is absent, or the package that has the data.
        StorageError: the results cannot be written.
    """
    from suite.learning import data, running
    from suite.report import learning as report
    from suite.report.text import make_console
    from suite.run import prepare
    from suite.run.probe_client import probe
    from suite.spec import learning as spec

    config = spec.with_overrides(spec.load(asked.config), asked.only, asked.seeds, asked.timeout)
    data.check_installed({task.data for task in config.tasks})
    environment = prepare.named(probe(asked.platform), asked.machine)
    file = running.new_file(config, environment, sys.argv)
    path, console = running.path_of(file, Path(asked.out)), make_console()
    running.run(file, path, report.Progress(console))
    report.show_learning(file, console)
    console.print()
    console.print(f"Result file: {path}", soft_wrap=True)
    if file.run.state != "complete":
        return INTERRUPTED
    reached = all(result.summary.reached == file.run.seeds for result in file.results)
    return ALL_OK if reached else NOT_ALL_OK
