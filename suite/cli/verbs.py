"""The verbs that read and tell. Each imports only what it prints with."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from suite.record.schema import ResultFile

from suite.cli.exits import ALL_OK, NOT_VALID


def show(asked: Namespace) -> int:
    """Prints result files.

    Raises:
        ResultFileError: one cannot be read.
        ConfigError: no case matches.
    """
    from suite.analysis.files import load
    from suite.record.learning import is_learning
    from suite.report import rows
    from suite.report.show import show as show_file
    from suite.report.text import make_console

    console = make_console()
    for number, name in enumerate(asked.files):
        if number and asked.format == "text":
            console.rule()
        if is_learning(Path(name)):
            _show_learning(Path(name), asked, console)
            continue
        result = load(Path(name))
        if asked.forecast is not None:
            _show_beside(result, asked, console)
        elif asked.format == "text":
            show_file(result, console, asked.case)
        else:
            form = rows.as_json if asked.format == "json" else rows.as_tsv
            print(form(result, asked.case))
    return ALL_OK


def _show_beside(result: ResultFile, asked: Namespace, console: Console) -> None:
    """Prints a run, and forecasts of its cases beside it."""
    from suite.analysis.beside import beside
    from suite.record import forecasts
    from suite.report import beside as report
    from suite.report.rows import select, to_json, to_tsv
    from suite.report.show import show as show_file

    chosen = {one.key for one in select(result, asked.case)}
    known = forecasts.load([Path(name) for name in asked.forecast])
    rows = [each for each in beside(result, known) if each.result.key in chosen]
    if asked.format == "text":
        show_file(result, console, asked.case)
        report.show_beside(rows, console)
    else:
        flat = [report.row(each) for each in rows]
        print(to_json(flat) if asked.format == "json" else to_tsv(flat))


def _show_learning(path: Path, asked: Namespace, console: Console) -> None:
    """Prints a file of `jaxmark learn`, which has no step times."""
    from suite.record import learning
    from suite.report import learning as report

    file = learning.load(path)
    if asked.format == "text":
        report.show_learning(file, console, asked.case)
    else:
        print(report.as_json(file) if asked.format == "json" else report.as_tsv(file, asked.case))


def validate(asked: Namespace) -> int:
    """Checks result files; 2 if one is not valid."""
    from suite.report.text import make_console
    from suite.report.validation import show_validation

    valid = show_validation([Path(name) for name in asked.files], make_console())
    return ALL_OK if valid else NOT_VALID


def list_all(asked: Namespace) -> int:
    """Lists workloads, presets and configs."""
    from suite.report import listing
    from suite.report.text import make_console

    if asked.format == "text":
        listing.show_list(make_console(), asked.workload)
    else:
        print((listing.as_json if asked.format == "json" else listing.as_tsv)(asked.workload))
    return ALL_OK


def devices(asked: Namespace) -> int:
    """Shows what JAX has here.

    Raises:
        PlatformError: the platform asked for is absent, or JAX does not start.
    """
    from suite.hardware.hints import hints
    from suite.record.schema import to_json
    from suite.report.devices import show_devices
    from suite.report.text import make_console
    from suite.run.probe_client import probe

    environment = probe(asked.platform)
    if asked.format == "json":
        print(to_json(environment).decode())
        return ALL_OK
    software = environment.software
    advice = hints(
        environment.machine.platform,
        jax_version=software.jax,
        plugins=software.plugins,
        variables=software.variables,
    )
    show_devices(environment, advice, make_console())
    return ALL_OK


def schema(asked: Namespace) -> int:
    """Prints the JSON Schema of result files."""
    from suite.record.jsonschema import json_schema

    print(json.dumps(json_schema(), indent=2))
    return ALL_OK
