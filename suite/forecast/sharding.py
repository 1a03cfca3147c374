"""Where each array of a step lies on the devices of a mesh.

The batch is split along all axes. Along 'fsdp' the state is split too, each array along its
largest axis that divides (fully sharded data parallelism); along 'data' it is repeated. The
compiler puts in the exchanges that this needs.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from suite.forecast import topology
from suite.forecast.meshes import AXES, MeshSpec
from suite.forecast.targets import Target
from suite.measurement.failure import StepFailedError

# Splitting a norm's few numbers would cost an exchange and save nothing.
_LEAST_SPLIT = 1 << 14
_BATCH_AXIS = {"cache": 1}
"""Parts of a state that belong to the batch's sequences, and the axis along which those lie."""


def shardings(target: Target, mesh: MeshSpec | None, state: Any, batch: Any) -> list[NamedSharding]:
    """How each leaf of the state, then of the batch, is spread.

    Raises:
        StepFailedError: the batch does not divide by the devices.
        Exception: see `topology.devices`.
    """
    places = _mesh(target, mesh)
    leaves = [_state_leaf(places, path, leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(state)]
    return leaves + [_split(places, leaf, 0) for leaf in jax.tree.leaves(batch)]


def _mesh(target: Target, mesh: MeshSpec | None) -> Mesh:
    if mesh is None:
        return Mesh(np.array(topology.devices(target)), ("data",))
    devices = topology.devices(target, mesh.chips)
    # A chip of two devices doubles the last axis: counts are of chips.
    sizes = list(mesh.sizes.values())
    sizes[-1] *= len(devices) // mesh.chips
    return Mesh(np.array(devices).reshape(sizes), tuple(mesh.sizes))


def _state_leaf(places: Mesh, path: Any, leaf: Any) -> NamedSharding:
    part = getattr(path[0], "name", None) if path else None
    if part in _BATCH_AXIS and len(leaf.shape) > _BATCH_AXIS[part]:
        return _split(places, leaf, _BATCH_AXIS[part])
    shards = places.shape.get("fsdp", 1)
    divisible = [axis for axis, size in enumerate(leaf.shape) if size % shards == 0]
    if shards == 1 or not divisible or math.prod(leaf.shape) < _LEAST_SPLIT:
        return NamedSharding(places, PartitionSpec())
    largest = max(divisible, key=lambda axis: leaf.shape[axis])
    return NamedSharding(places, PartitionSpec(*[None] * largest, "fsdp"))


def _split(places: Mesh, leaf: Any, axis: int) -> NamedSharding:
    """Split along the batch.

    Raises:
        StepFailedError: it does not divide.
    """
    names = tuple(name for name in AXES if name in places.shape)
    pieces = math.prod(places.shape[name] for name in names)
    if pieces == 1:
        return NamedSharding(places, PartitionSpec())
    if len(leaf.shape) <= axis or leaf.shape[axis] % pieces:
        raise StepFailedError(
            "unsupported",
            f"expected a batch that {pieces} devices can share equally, found an array of shape "
            f"{list(leaf.shape)}: give --batch a multiple of {pieces}",
        )
    return NamedSharding(places, PartitionSpec(*[None] * axis, names))
