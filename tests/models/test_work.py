"""Parameters and FLOPs of the catalogue against the models themselves, traced and never run."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from suite.measurement.flat import FlatStep, bytes_of
from suite.measurement.jaxprs import fewest_bytes
from suite.spec import catalogue
from suite.spec.case import Case
from suite.spec.catalogue.memory import memory_of
from suite.workloads import build
from tests.models import walker
from tests.models.running import SMOKE, abstract, ids

PUBLISHED = [
    catalogue.resolve(spec.name, preset=preset, mode=mode, layers=layers)
    for spec in catalogue.all_specs()
    for preset in spec.presets
    if preset != "smoke"
    for mode in spec.modes
    for layers in spec.layers
]
DECODERS = [spec.name for spec in catalogue.all_specs() if "decode" in spec.modes]
SHORT = [
    catalogue.resolve(name, preset="smoke", mode=mode, layers=layers, params=params)
    for name in DECODERS
    for layers in ("scan", "unroll")
    for mode, params in (
        ("train", {"seq": 7}),
        ("train", {"remat": 1}),
        ("prefill", {"seq": 7}),
        ("decode", {"seq": 7}),
    )
]
SHORT += [
    catalogue.resolve("bert", preset="smoke", mode="train", layers=layers, params=params)
    for layers in ("scan", "unroll")
    for params in ({"seq": 7}, {"remat": 1})
]
EVERY_MODEL = [
    case
    for case in SMOKE + PUBLISHED
    if case.layers == catalogue.get(case.workload).layers[0] and case.precision == "default"
]
KNOWN = {
    ("linear", "10k"): 100_010_000,
    ("mlp", "small"): 669_706,
    ("alexnet", "2012"): 61_100_840,
    ("resnet", "18"): 11_689_512,
    ("resnet", "50"): 25_557_032,
    ("resnet", "152"): 60_192_808,
    ("vit", "ti16"): 5_717_416,
    ("vit", "s16"): 22_050_664,
    ("vit", "b16"): 86_567_656,
    ("vit", "l16"): 304_326_632,
    ("unet", "ddpm-cifar10"): 35_746_307,
    ("lstm", "large"): 66_022_000,
    ("bert", "base"): 109_482_240,
    ("bert", "large"): 335_141_888,
    ("gpt", "124m"): 124_439_808,
    ("gpt", "355m"): 354_823_168,
    ("gpt", "1.5b"): 1_557_611_200,
    ("llama", "1b"): 1_235_814_400,
    ("llama", "8b"): 8_030_261_248,
    ("moe", "8x7b"): 46_702_792_704,
}


def parameters(case: Case) -> int:
    state, _ = abstract(build(case))
    return sum(leaf.size for leaf in jax.tree.leaves(state.params))


@pytest.mark.parametrize("case", EVERY_MODEL, ids=ids(EVERY_MODEL))
def test_parameters_match_the_model(case: Case) -> None:
    assert parameters(case) == catalogue.work(case)[3]


@pytest.mark.parametrize(("name", "expected"), KNOWN.items(), ids=map("/".join, KNOWN))
def test_parameters_are_the_published_ones(name: tuple[str, str], expected: int) -> None:
    workload, preset = name
    assert catalogue.get(workload).presets[preset].parameters == expected


@pytest.mark.parametrize("case", SMOKE + SHORT + PUBLISHED, ids=ids(SMOKE + SHORT + PUBLISHED))
def test_flops_and_memory_match_the_program_exactly(case: Case) -> None:
    workload = build(case)
    state, batch = abstract(workload)
    flat = FlatStep(workload.step, state, batch)
    program = flat.trace().jaxpr
    assert walker.count(program.jaxpr) == sum(catalogue.work(case)[0].values())
    if case == catalogue.resolve(case.workload, preset=case.preset, mode=case.mode):
        weights = sum(bytes_of(leaf) for leaf in jax.tree.leaves(state.params))
        moved = max(fewest_bytes(program) - catalogue.unmoved_bytes(case), 0)
        listed = memory_of(case)
        stale = "`jaxmark list` shows what is no longer so: run python -m suite.run.memory_table NAME"
        assert (listed.weights, listed.state) == (weights, flat.state_bytes), stale
        # What is traced beside a step's arrays, a few hundred bytes, is not the same in every version of jax.
        assert listed.moved == pytest.approx(moved, rel=1e-3), stale


def test_walker_multiplies_scans_and_refuses_loops_of_unknown_length() -> None:
    square = jnp.ones((4, 4))

    def scanned(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda x, _: (jax.jit(jnp.dot)(x, square), None), x, length=5)[0]

    assert walker.count(jax.make_jaxpr(scanned)(square).jaxpr) == 5 * 2 * 4**3

    def looped(x: jax.Array) -> jax.Array:
        return jax.lax.while_loop(lambda x: x[0, 0] < 9, lambda x: x @ square, x)

    with pytest.raises(AssertionError, match="while"):
        walker.count(jax.make_jaxpr(looped)(square).jaxpr)


def test_walker_counts_a_convolution_with_its_padding() -> None:
    def convolve(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(
            x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    program = jax.make_jaxpr(convolve)(jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 5)))
    assert walker.count(program.jaxpr) == 2 * (2 * 4 * 4 * 5) * (3 * 3 * 3)
