"""`jaxmark list`: what can be measured, from the catalogue alone; no jax."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from suite.errors import ConfigError
from suite.report import units
from suite.report.rows import to_json, to_tsv
from suite.report.text import Page
from suite.spec import catalogue, config
from suite.spec.catalogue.memory import memory_of
from suite.spec.sources import entry_points
from suite.spec.workload import Preset, WorkloadSpec

_NA = "-"


def show_list(console: Console, workload: str | None = None) -> None:
    """Prints every workload with its presets, and every config that a name reaches; or one in detail.

    Raises:
        ConfigError: there is no such workload; the message names the nearest.
    """
    page = Page(console)
    if workload is not None:
        _workload(page, catalogue.get(workload))
        _details(page, catalogue.get(workload))
        _how_to_read(page)
        return
    for number, spec in enumerate(catalogue.all_specs()):
        if number:
            console.print()
        _workload(page, spec)
    _own(page)
    page.heading("Configs")
    page.table(
        ("name", "cases", "description"),
        [
            [row["name"], "-" if row["cases"] is None else str(row["cases"]), row["description"]]
            for row in configs()
        ],
        left=(0, 2),
        wraps=2,
        indent=2,
    )
    _how_to_read(page)


def _own(page: Page) -> None:
    own = entry_points()
    if own:
        page.heading("From installed packages")
        page.table(
            ("name", "from"), [[name, own[name]] for name in sorted(own)], left=(0, 1), wraps=1, indent=2
        )


def _how_to_read(page: Page) -> None:
    page.heading("How to read it")
    for line in (
        "FLOPs are those of products and convolutions, for one item at the default batch.",
        "weights and state: bytes in float32 of the parameters, and of all that a step keeps for the next, "
        "which in training is the optimiser's too, in decoding the cache. What a step needs besides, "
        "activations above all, is for `jaxmark forecast`.",
        "FLOPs/byte: arithmetic intensity, a step's FLOPs over the fewest bytes that it can move.",
        "`jaxmark list NAME` shows where the sizes of a workload come from, and its settings.",
        "`jaxmark run CONFIG` or `jaxmark run --workload NAME` measures.",
    ):
        page.line(line, indent=2)


def presets(workload: str | None = None) -> Iterator[dict[str, Any]]:
    """One row for each workload, preset and mode; of one workload if it is named.

    Raises:
        ConfigError: there is no such workload; the message names the nearest.
    """
    for spec in catalogue.all_specs() if workload is None else [catalogue.get(workload)]:
        for name, preset in spec.presets.items():
            for mode in spec.modes:
                yield _row(spec, name, preset, mode)


def _row(spec: WorkloadSpec, name: str, preset: Preset, mode: str) -> dict[str, Any]:
    case = catalogue.resolve(spec.name, preset=name, mode=mode)
    terms, items, item, parameters = catalogue.work(case)
    flops, memory = sum(terms.values()), memory_of(case)
    return {
        "workload": spec.name,
        "version": spec.version,
        "preset": name,
        "mode": mode,
        "family": spec.family,
        "parameters": parameters,
        "batch": case.batch,
        "items": items,
        "item": item,
        "flops_per_step": flops,
        "flops_per_item": flops / items,
        "weights_bytes": memory.weights if memory else None,
        "state_bytes": memory.state if memory else None,
        "bytes_min": memory.moved if memory else None,
        "flops_per_byte": flops / memory.moved if memory else None,
        "precisions": list(spec.precisions),
        "layers": list(spec.layers),
        "dims": dict(preset.dims),
        "source": preset.source,
    }


def configs() -> Iterator[dict[str, Any]]:
    """One row for each config; one that cannot be read says why in its description."""
    for name, path in sorted(config.available().items()):
        try:
            loaded = config.load(str(path))
        except ConfigError as error:
            yield {"name": name, "path": str(path), "cases": None, "description": f"cannot be read: {error}"}
        else:
            yield {
                "name": name,
                "path": str(path),
                "cases": len(loaded.cases),
                "description": loaded.description,
            }


def as_json(workload: str | None = None) -> str:
    """Workloads and configs for scripts; the presets of one workload if it is named."""
    if workload is not None:
        return to_json({"presets": list(presets(workload))})
    return to_json({"presets": list(presets()), "own": entry_points(), "configs": list(configs())})


def as_tsv(workload: str | None = None) -> str:
    """The presets for scripts; configs are in the JSON only."""
    return to_tsv(list(presets(workload)))


def _workload(page: Page, spec: WorkloadSpec) -> None:
    page.line(f"{spec.name} (v{spec.version}): {spec.summary}", style="bold")
    page.line(
        f"{spec.family}; precisions {', '.join(spec.precisions)}; layers {', '.join(spec.layers)}", indent=2
    )
    rows: list[list[str]] = []
    for row in presets(spec.name):
        first = not rows or row["mode"] == spec.modes[0]
        rows.append(
            [
                row["preset"] if first else "",
                f"{row['parameters']:,}",
                row["mode"],
                str(row["batch"]),
                units.count(row["flops_per_item"]),
                _size(row["weights_bytes"]),
                _size(row["state_bytes"]),
                _NA if row["flops_per_byte"] is None else units.significant(row["flops_per_byte"]),
            ]
        )
    page.table(
        ("preset", "parameters", "mode", "batch", f"FLOPs/{spec.item}", "weights", "state", "FLOPs/byte"),
        rows,
        left=(0, 2),
        indent=2,
    )


def _details(page: Page, spec: WorkloadSpec) -> None:
    """Where the sizes come from, their dimensions, and what a case may set besides."""
    for name, preset in spec.presets.items():
        page.heading(name)
        page.line(preset.source, indent=2)
        page.line(", ".join(f"{key} {value:,}" for key, value in preset.dims.items()), indent=2)
    if spec.settings:
        page.heading("Settings")
        page.pairs([(name, setting.summary) for name, setting in spec.settings.items()])


def _size(count: int | None) -> str:
    return _NA if count is None else units.size(count)
