"""`jaxmark forecast`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from suite.cli.exits import ALL_OK, NOT_ALL_OK
from suite.cli.flags import add_compilers, add_native_precision, examples
from suite.cli.portability import tell
from suite.errors import ConfigError

if TYPE_CHECKING:
    from suite.forecast.compiler import Compiler
    from suite.forecast.protocol import Job
    from suite.forecast.search import Largest
    from suite.record.forecast import Forecast

TARGETS = "t4,l4,a100-80gb,h100,v5e,v6e"


def add_parser(verbs: Any) -> None:
    """Adds `forecast` to the verbs."""
    parser = verbs.add_parser(
        "forecast",
        help="does a model fit a chip that is not here, with which batch, and how fast at best",
        description="Compile a step for chips that are not here, with the chips' own compilers, for its\n"
        "memory and the least time that it can take. Nothing is run: times are bounds, not estimates.\n"
        "On Linux x86-64; makes an environment for the compilers first (.venv-forecast).",
        epilog=examples(
            "jaxmark forecast gpt --preset 124m --target t4,h100,v5e       every mode, side by side",
            "jaxmark forecast gpt --preset 124m --mode train --set params.remat=1 --max-batch",
            "jaxmark forecast llama --preset 8b --mode train --target v5p --mesh fsdp=16 --batch 16",
            "jaxmark forecast my_model.py:make --target l4                  a model of your own",
            "jaxmark forecast --config quick --format json > quick.json     for jaxmark show RUN --forecast",
            "jaxmark forecast --table standard --target t4,v5e              largest batch, model by chip",
            "jaxmark forecast gpt --from results/published/forecasts        made before; compiles nothing",
        )
        + "\n\nexit codes:\n  0 every case compiles, or is only too large for its chip; 1 one does not;\n"
        "  2 bad input, or no compilers here",
    )
    parser.set_defaults(verb=forecast)
    parser.add_argument(
        "workload", nargs="?", metavar="WORKLOAD", help="a name from `jaxmark list`, or file.py:name"
    )
    _add_what(parser.add_argument_group("what"))
    where = parser.add_argument_group("where")
    where.add_argument(
        "--target",
        metavar="CHIPS",
        help=f"with commas; v5e-8 and 8xh100 are slices (default: {TARGETS})",
    )
    where.add_argument(
        "--mesh", metavar="AXES", help="chips to spread it over: data=4, fsdp=8, data=2,fsdp=4"
    )
    add_compilers(where)
    parser.add_argument("--format", choices=("text", "json", "tsv"), default="text")


def _add_what(what: Any) -> None:
    what.add_argument("--preset", metavar="P", help="size; by default the workload's usual one")
    what.add_argument("--mode", metavar="M", help="train, infer, ...; by default every mode, side by side")
    add_native_precision(what)
    what.add_argument("--layers", metavar="L", help="scan, unroll")
    what.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="params.K=V",
        help="such as params.seq=512",
    )
    batch = what.add_mutually_exclusive_group()
    batch.add_argument("--batch", type=int, metavar="N", help="over all chips; by default the preset's")
    batch.add_argument("--max-batch", action="store_true", help="find the largest batch that fits")
    batch.add_argument("--table", metavar="CONFIG", help="the largest batch of every case of a config")
    what.add_argument("--config", metavar="CONFIG", help="every case of a config, as it is")
    what.add_argument(
        "--from",
        action="append",
        dest="known",
        metavar="FILE",
        help="compile nothing: show what matches of forecasts made before, a file or a folder",
    )


def forecast(asked: Namespace) -> int:
    """Compiles cases for chips that are not here and prints what memory and time they need at the least.

    Raises:
        ConfigError: a field, a target, a mesh or a duration is unknown, or they contradict each other.
        PlatformError: there are no compilers for this system, or they cannot be installed.
    """
    from suite.forecast.compiler import Compiler
    from suite.forecast.environment import given_or_made
    from suite.forecast.targets import find
    from suite.spec.durations import parse_duration

    if asked.known is not None:
        return _show_known(asked)
    jobs = _jobs(asked)
    timeout_s = parse_duration(asked.timeout)
    python = given_or_made(asked.python)
    with Compiler(python, {find(job.target).platform for job in jobs}, timeout_s) as compiler:
        if asked.max_batch or asked.table is not None:
            return _largest(asked, jobs, compiler)
        return _each(asked, jobs, compiler)


def _jobs(asked: Namespace) -> list[Job]:
    from suite.forecast.planning import Wanted, check_has_batch, plan, plan_config
    from suite.forecast.targets import parse_slices
    from suite.spec.overrides import parse_overrides

    slices = parse_slices(asked.target or TARGETS)
    if asked.table is not None or asked.config is not None:
        _refuse_beside_config(asked)
        jobs = plan_config(asked.config or asked.table, asked.overrides, slices)
    elif asked.workload is None:
        raise ConfigError("expected a workload, such as `jaxmark forecast gpt`, --config or --table CONFIG.")
    else:
        overrides = parse_overrides(asked.overrides)
        params = overrides.pop("params", {})
        if overrides:
            raise ConfigError(
                f"--set {next(iter(overrides))}: expected a parameter, as in --set params.seq=512."
            )
        wanted = Wanted(
            asked.workload, asked.preset, asked.mode, asked.precision, asked.batch, asked.layers, params
        )
        jobs = plan(wanted, slices, asked.mesh)
    if asked.max_batch or asked.table is not None:
        check_has_batch(jobs)
    return jobs


def _show_known(asked: Namespace) -> int:
    """Prints forecasts that were made before; compiles nothing, and needs no compilers."""
    from pathlib import Path

    from suite.forecast.targets import parse
    from suite.record import forecasts

    chips = None if asked.target is None else {target.name for target in parse(asked.target)}
    fields = (asked.workload, asked.preset, asked.mode)
    found = [
        answer
        for answer in forecasts.load([Path(name) for name in asked.known])
        if (chips is None or answer.target in chips)
        and all(want is None or want == has for want, has in zip(fields, answer.key.split("/"), strict=False))
    ]
    if not found:
        raise ConfigError(
            f"no forecast in {', '.join(asked.known)} matches; without a workload it shows all."
        )
    _print(found, asked.format)
    return ALL_OK


def _refuse_beside_config(asked: Namespace) -> None:
    names = ("workload", "preset", "mode", "layers", "mesh", "batch")
    if asked.table is not None and asked.config is not None:
        raise ConfigError("expected --config or --table, found both: --table finds the largest batches.")
    given = [name for name in names if getattr(asked, name) is not None]
    given += ["precision"] if asked.precision != "native" else []
    if given:
        raise ConfigError(
            f"the cases come from a config, and {', '.join(given)} as well were given. Use --set, such as "
            "--set precision=bf16."
        )


def _each(asked: Namespace, jobs: list[Job], compiler: Compiler) -> int:
    from suite.forecast.portability import all_answered, ask

    answers = ask(jobs, compiler, tell)
    _print(answers, asked.format)
    return ALL_OK if all_answered(answers) else NOT_ALL_OK


def _print(answers: list[Forecast], form: str) -> None:
    from suite.report import forecast as report
    from suite.report.text import make_console

    if form == "text":
        report.show_forecasts(answers, make_console())
    else:
        print(report.as_json(answers) if form == "json" else report.as_tsv(answers))


def _largest(asked: Namespace, jobs: list[Job], compiler: Compiler) -> int:
    from suite.forecast.planning import with_batch
    from suite.forecast.portability import ask
    from suite.forecast.search import largest_batch
    from suite.forecast.targets import find
    from suite.report import forecast as report
    from suite.report.text import make_console

    found: list[tuple[Job, Largest]] = []
    for job in jobs:

        def compile_at(batch: int, job: Job = job) -> Forecast:
            return ask([with_batch(job, batch)], compiler, tell)[0]

        usable, step = find(job.target).usable_bytes, _step(job)
        found.append((job, largest_batch(compile_at, usable, job.case.batch or step, step)))
    if asked.format == "text":
        report.show_largest(found, make_console())
    else:
        print(report.largest_json(found) if asked.format == "json" else report.largest_tsv(found))
    return ALL_OK if all(largest.exact for _, largest in found) else NOT_ALL_OK


def _step(job: Job) -> int:
    """Devices share a batch equally, so it is a multiple of them."""
    from suite.forecast.meshes import parse_mesh
    from suite.forecast.targets import find

    if job.case.mesh is None:
        return 1
    return parse_mesh(job.case.mesh).chips * find(job.target).facts.devices_per_chip
