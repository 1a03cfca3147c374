"""The catalogue: names, defaults, checks and identities. No jax."""

from __future__ import annotations

import subprocess
import sys

import pytest

from suite.errors import ConfigError
from suite.spec import catalogue
from suite.spec.catalogue.gpt import unmoved_bytes

SPECS = catalogue.all_specs()
EVERY = [(spec, name) for spec in SPECS for name in spec.presets]


def test_defaults_are_filled_in() -> None:
    case = catalogue.resolve("gpt", preset="char")
    assert case.key == "gpt/char/train/default/b64/scan/v2"
    assert catalogue.resolve("linear").key == "linear/1k/infer/default/b32/unroll/v2"


def test_every_field_can_be_chosen() -> None:
    case = catalogue.resolve(
        "gpt",
        preset="124m",
        mode="prefill",
        precision="bf16",
        batch=2,
        layers="unroll",
        params={"seq": 128},
    )
    assert case.key == "gpt/124m/prefill/bf16/b2/unroll/v2/seq=128"


def test_a_parameter_at_its_default_is_no_part_of_the_identity() -> None:
    assert catalogue.resolve("gpt", params={"seq": 256}) == catalogue.resolve("gpt")
    assert catalogue.resolve("gpt", params={"seq": 8}).params == {"seq": 8}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"workload": "resnt"}, ["workload", "'resnt'", "'resnet'"]),
        ({"workload": "gpt", "preset": "124M"}, ["preset of gpt", "'124M'", "'124m'"]),
        ({"workload": "gpt", "preset": ""}, ["preset of gpt", "''", "smoke"]),
        ({"workload": "linear", "mode": "train"}, ["mode of linear", "'train'", "infer"]),
        ({"workload": "mlp", "precision": "fp61"}, ["precision of mlp", "'fp61'", "'fp16'"]),
        ({"workload": "resnet", "layers": "scan"}, ["layers of resnet", "'scan'", "unroll"]),
        ({"workload": "mlp", "batch": 0}, ["batch", "at least 1", "0"]),
        ({"workload": "mlp", "batch": True}, ["batch", "whole number", "True"]),
        ({"workload": "mlp", "batch": 8.0}, ["batch", "whole number", "8.0"]),
        ({"workload": "mlp", "batch": "8"}, ["batch", "whole number", "'8'"]),
        ({"workload": "gpt", "params": {"sequence": 8}}, ["parameter of gpt", "'sequence'", "seq"]),
        ({"workload": "mlp", "params": {"seq": 8}}, ["parameter of mlp", "'seq'", "None is known"]),
        ({"workload": "gpt", "params": {"seq": 257}}, ["'seq'", "at most 256", "context", "257"]),
        ({"workload": "gpt", "params": {"seq": "8"}}, ["'seq'", "whole number", "'8'"]),
        ({"workload": ["gpt"]}, ["workload", "['gpt']"]),
    ],
)
def test_a_wrong_field_is_named_with_what_would_be_right(fields: dict, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        catalogue.resolve(**fields)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_presets_grow_from_smoke(spec) -> None:
    assert next(iter(spec.presets)) == "smoke"
    assert spec.default_preset in list(spec.presets)[1:]
    sizes = [preset.parameters for preset in spec.presets.values()]
    assert sizes == sorted(sizes)
    assert all(preset.source for preset in spec.presets.values())
    assert all(set(preset.batch) == set(spec.modes) for preset in spec.presets.values())


@pytest.mark.parametrize(("spec", "preset"), EVERY, ids=lambda value: getattr(value, "name", value))
def test_work_is_positive_and_linear_in_the_batch(spec, preset: str) -> None:
    for mode in spec.modes:
        one, many = (
            catalogue.work(catalogue.resolve(spec.name, preset=preset, mode=mode, batch=batch))
            for batch in (1, 6)
        )
        assert all(value > 0 for value in one[0].values())
        assert many[0] == {name: 6 * value for name, value in one[0].items()}
        assert many[1] == 6 * one[1]
        assert one[2:] == many[2:] == (spec.item, spec.presets[preset].parameters_in(mode))


def test_items_follow_the_sequence() -> None:
    _, items, item, _ = catalogue.work(catalogue.resolve("gpt", batch=3, params={"seq": 5}))
    assert (items, item) == (15, "token")


def test_decode_unrolls_unless_told_otherwise() -> None:
    assert catalogue.resolve("gpt", mode="decode").layers == "unroll"
    assert catalogue.resolve("gpt", mode="decode", layers="scan").layers == "scan"
    assert catalogue.resolve("gpt", mode="prefill").layers == "scan"


def test_what_generation_does_not_move() -> None:
    dims = {"context": 16, "seq": 10, "width": 64, "depth": 2}
    slot = 2 * 4 * 2 * 64 * 2
    assert unmoved_bytes(dims, "prefill", 4, 2) == 6 * 64 * 2 + 10 * slot
    assert unmoved_bytes(dims, "decode", 4, 2) == 15 * 64 * 2 + 9 * slot + 4 * 9 * 4
    assert unmoved_bytes(dims, "train", 4, 4) == 0


def test_causal_and_masked_attention_are_told_apart() -> None:
    terms, *_ = catalogue.work(catalogue.resolve("gpt", preset="smoke", mode="prefill", batch=1))
    pairs, width, depth = 16 * 17 // 2, 64, 2
    assert terms["forward_attention_causal"] == 4 * depth * width * pairs
    assert terms["forward_attention_masked"] == 4 * depth * width * (16 * 16 - pairs)


def test_the_catalogue_and_the_references_need_no_jax() -> None:
    code = (
        "import sys, suite.spec.catalogue, suite.workloads.reference\n"
        "assert not {'jax', 'flax', 'optax'} & set(sys.modules), 'jax was imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
