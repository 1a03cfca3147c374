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
from suite.spec.sources import entry_points
from suite.spec.workload import WorkloadSpec


def show_list(console: Console) -> None:
    """Prints every workload with its presets, and every config that a name reaches."""
    page = Page(console)
    for number, spec in enumerate(catalogue.all_specs()):
        if number:
            console.print()
        _workload(page, spec)
    own = entry_points()
    if own:
        page.heading("From installed packages")
        page.table(
            ("name", "from"), [[name, own[name]] for name in sorted(own)], left=(0, 1), wraps=1, indent=2
        )
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
    page.heading("How to read it")
    page.line(
        "FLOPs are those of products and convolutions, for one item at the default batch; two batches are "
        "those of the modes, in their order.",
        indent=2,
    )
    page.line("`jaxmark run CONFIG` or `jaxmark run --workload NAME` measures.", indent=2)


def presets() -> Iterator[dict[str, Any]]:
    """One row for each workload, preset and mode."""
    for spec in catalogue.all_specs():
        for name, preset in spec.presets.items():
            for mode in spec.modes:
                case = catalogue.resolve(spec.name, preset=name, mode=mode)
                terms, items, item, parameters = catalogue.work(case)
                yield {
                    "workload": spec.name,
                    "version": spec.version,
                    "preset": name,
                    "mode": mode,
                    "parameters": parameters,
                    "batch": case.batch,
                    "items": items,
                    "item": item,
                    "flops_per_step": sum(terms.values()),
                    "flops_per_item": sum(terms.values()) / items,
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


def as_json() -> str:
    """Workloads and configs for scripts."""
    return to_json({"presets": list(presets()), "own": entry_points(), "configs": list(configs())})


def as_tsv() -> str:
    """The presets for scripts; configs are in the JSON only."""
    return to_tsv(list(presets()))


def _workload(page: Page, spec: WorkloadSpec) -> None:
    page.line(f"{spec.name} (v{spec.version}): {spec.summary}", style="bold")
    page.line(
        f"precisions {', '.join(spec.precisions)}; layers {', '.join(spec.layers)}; items are {spec.item}s",
        indent=2,
    )
    by_preset: dict[str, list[dict[str, Any]]] = {}
    for row in presets():
        if row["workload"] == spec.name:
            by_preset.setdefault(row["preset"], []).append(row)
    page.table(
        ("preset", "parameters", "batch", *(f"{mode} FLOPs" for mode in spec.modes), "from"),
        [
            [
                preset,
                f"{rows[0]['parameters']:,}",
                "/".join(dict.fromkeys(str(row["batch"]) for row in rows)),
                *(units.count(row["flops_per_item"]) for row in rows),
                rows[0]["source"],
            ]
            for preset, rows in by_preset.items()
        ],
        left=(0, len(spec.modes) + 3),
        wraps=len(spec.modes) + 3,
        indent=2,
    )
