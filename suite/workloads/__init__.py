"""Workloads: a model with its loss, optimiser and synthetic batch, as a step to measure."""

from __future__ import annotations

import importlib

from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads.base import Workload


def build(case: Case) -> Workload:
    """Returns the built-in workload that `case` names, ready to initialise and step.

    Imports the one module that builds it, so that a case pays for no other model.

    Raises:
        ConfigError: the catalogue has no such workload or preset.
    """
    module, _, function = catalogue.get(case.workload).build.partition(":")
    workload: Workload = getattr(importlib.import_module(module), function)(case, catalogue.preset_of(case))
    return workload
