"""The built-in workloads: sizes, modes and work formulas, with no jax imported.

One file per workload holds its row. Here are the look-up, the check that turns what a user
asked for into a `Case`, and the work of a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from suite.errors import ConfigError, nearest
from suite.spec.case import Case, ParamValue
from suite.spec.catalogue.alexnet import ALEXNET
from suite.spec.catalogue.bert import BERT
from suite.spec.catalogue.dlrm import DLRM
from suite.spec.catalogue.gpt import GPT
from suite.spec.catalogue.linear import LINEAR
from suite.spec.catalogue.llama import LLAMA
from suite.spec.catalogue.lstm import LSTM
from suite.spec.catalogue.mlp import MLP
from suite.spec.catalogue.moe import MOE
from suite.spec.catalogue.resnet import RESNET
from suite.spec.catalogue.unet import UNET
from suite.spec.catalogue.vit import VIT
from suite.spec.workload import Dims, Preset, Setting, WorkloadSpec

_ALL = (LINEAR, MLP, ALEXNET, RESNET, VIT, UNET, LSTM, BERT, GPT, LLAMA, MOE, DLRM)
_SPECS = {spec.name: spec for spec in _ALL}
_Name = TypeVar("_Name", bound=str)


def all_specs() -> list[WorkloadSpec]:
    """Returns every built-in workload, the simplest first."""
    return list(_SPECS.values())


def get(name: str) -> WorkloadSpec:
    """Returns the workload called `name`.

    Raises:
        ConfigError: there is none; the message names the nearest.
    """
    return _SPECS[_choose("workload", name, _SPECS)]


def resolve(
    workload: str,
    *,
    preset: str | None = None,
    mode: str | None = None,
    precision: str | None = None,
    batch: int | None = None,
    layers: str | None = None,
    params: Mapping[str, ParamValue] | None = None,
) -> Case:
    """Returns the case that these fields ask for, defaults filled in and every field checked.

    Defaults: the workload's default preset, its first mode, precision 'default', the preset's
    batch and the workload's way to compile layers for that mode. A parameter equal to the
    preset's own value is left out, so that one measurement has one identity.

    Raises:
        ConfigError: a field is unknown or out of range; the message names it, what was
            expected and the nearest valid value.
    """
    spec = get(workload)
    size = _choose(f"preset of {workload}", spec.default_preset if preset is None else preset, spec.presets)
    chosen_mode = _choose(f"mode of {workload}", mode, spec.modes)
    default_batch = spec.presets[size].batch[chosen_mode]
    return Case(
        workload=spec.name,
        version=spec.version,
        preset=size,
        mode=chosen_mode,
        precision=_choose(
            f"precision of {workload}", "default" if precision is None else precision, spec.precisions
        ),
        batch=_positive("batch", default_batch if batch is None else batch),
        layers=_choose(
            f"layers of {workload}",
            spec.default_layers(chosen_mode) if layers is None else layers,
            spec.layers,
        ),
        params=_params(spec, spec.presets[size].dims, chosen_mode, params or {}),
    )


def preset_of(case: Case) -> Preset:
    """Returns the preset that a built-in case names.

    Raises:
        ConfigError: the case names no built-in workload or preset.
    """
    spec = get(case.workload)
    return spec.presets[_choose(f"preset of {case.workload}", case.preset, spec.presets)]


def dims_of(case: Case, preset: Preset) -> Dims:
    """Returns the preset's dimensions with the case's own settings in their place."""
    return {**preset.dims, **{name: int(value) for name, value in case.params.items()}}


def batch_of(case: Case) -> int:
    """Returns the batch of a built-in case.

    Raises:
        ConfigError: it has none.
    """
    return _positive("batch", case.batch)


def stored_bytes(case: Case) -> int:
    """Returns the bytes of a stored parameter: training keeps float32, the rest what it computes in."""
    return 2 if case.mode != "train" and case.precision in ("bf16", "fp16") else 4


def unmoved_bytes(case: Case) -> int:
    """Returns the bytes of the state that a step of a built-in case does not move.

    Rows of tables that no token asks for, and the like.
    """
    spec = get(case.workload)
    if spec.unmoved_bytes is None:
        return 0
    dims = dims_of(case, preset_of(case))
    return spec.unmoved_bytes(dims, case.mode, batch_of(case), stored_bytes(case))


def work(case: Case) -> tuple[dict[str, int], int, str, int]:
    """Returns the work of one step: (FLOPs in named terms, items, what an item is, parameters).

    FLOPs are those of products and convolutions, two per multiply-add; the terms add up.

    Raises:
        ConfigError: the case names no built-in workload or preset, or has no batch.
    """
    spec, preset = get(case.workload), preset_of(case)
    dims, batch = dims_of(case, preset), batch_of(case)
    terms = spec.flops(dims, case.mode, batch)
    return terms, spec.items(dims, case.mode, batch), spec.item, preset.parameters_in(case.mode)


def _choose(what: str, name: str | None, known: Iterable[_Name]) -> _Name:
    """Returns the option called `name`, or the first one for None."""
    names = {str(option): option for option in known}
    if name is None:
        return next(iter(names.values()))
    if not isinstance(name, str) or name not in names:
        raise ConfigError(f"Unknown {what}: {name!r}. {nearest(str(name), names)}")
    return names[name]


def _positive(what: str, value: object, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"Expected {what} to be a whole number of at least {least}, found {value!r}.")
    return value


def _params(
    spec: WorkloadSpec, dims: Dims, mode: str, params: Mapping[str, ParamValue]
) -> dict[str, ParamValue]:
    settings: dict[str, ParamValue] = {}
    for name in sorted(params):
        setting = spec.settings[_choose(f"parameter of {spec.name}", name, spec.settings)]
        what = f"parameter {name!r} of {spec.name}"
        value = _positive(what, params[name], setting.least)
        limit, whose = _limit(setting, dims)
        if value > limit:
            raise ConfigError(f"Expected {what} to be at most {limit}{whose}, found {value}.")
        if value == dims[name]:
            continue
        if setting.modes is not None and mode not in setting.modes:
            raise ConfigError(
                f"Expected {what} only where the mode is {' or '.join(setting.modes)}, found mode {mode!r}."
            )
        settings[name] = value
    return settings


def _limit(setting: Setting, dims: Dims) -> tuple[int, str]:
    """Returns a setting's largest value, and whose it is in words."""
    if isinstance(setting.limit, int):
        return setting.limit, ""
    return dims[setting.limit], f" (the preset's {setting.limit})"
