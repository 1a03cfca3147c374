"""Llama 3 against `transformers.LlamaForCausalLM`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from suite.models.llama import Rotary
from suite.spec import catalogue
from suite.spec.workload import Dims
from suite.workloads.llama import build
from tests.reference.decoders import Values, as_it_is, compare, joined
from tests.reference.support import OUTPUTS_WITHIN, dense, relative_error, transformers

hugging_face = transformers()

CASE = catalogue.resolve("llama", preset="smoke", mode="train", precision="fp32", layers="unroll")
PRESETS = catalogue.get("llama").presets
SMOKE = PRESETS["smoke"]
# As the small model, with a tied head and stretched wavelengths; as the large one, with neither.
LIKE = {"1b": dict(SMOKE.dims), "8b": {**SMOKE.dims, "tied": 0, "stretch": 1, "theta": 500_000, "groups": 1}}


def config(dims: Dims, **settings: object) -> Any:
    rope = {"rope_type": "default", "rope_theta": float(dims["theta"])}
    if dims["stretch"] > 1:
        rope |= {
            "rope_type": "llama3",
            "factor": float(dims["stretch"]),
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": dims["trained_context"],
        }
    return hugging_face.LlamaConfig(
        vocab_size=dims["vocab"],
        max_position_embeddings=dims["context"],
        hidden_size=dims["width"],
        intermediate_size=dims["hidden"],
        num_hidden_layers=dims["depth"],
        num_attention_heads=dims["heads"],
        num_key_value_heads=dims["groups"],
        rms_norm_eps=1e-5,
        tie_word_embeddings=bool(dims["tied"]),
        rope_parameters=rope,
        initializer_range=0.07,
        attn_implementation="eager",
        **settings,
    )


def in_our_names(dims: Dims, of: Callable[[str], torch.Tensor]) -> Values:
    values = {
        "tokens.embedding": as_it_is(of("model.embed_tokens.weight")),
        "norm.norm.scale": as_it_is(of("model.norm.weight")),
    }
    if not dims["tied"]:
        values["head.kernel"] = dense(of("lm_head.weight"))
    for layer in range(dims["depth"]):
        our, their = f"blocks.blocks.layers.{layer}", f"model.layers.{layer}"
        values |= {
            f"{our}.attention_norm.norm.scale": as_it_is(of(f"{their}.input_layernorm.weight")),
            f"{our}.attention.qkv.kernel": joined(
                *(of(f"{their}.self_attn.{name}_proj.weight") for name in "qkv")
            ),
            f"{our}.attention.out.kernel": dense(of(f"{their}.self_attn.o_proj.weight")),
            f"{our}.feed_forward_norm.norm.scale": as_it_is(of(f"{their}.post_attention_layernorm.weight")),
            f"{our}.feed_forward.gate_up.kernel": joined(
                of(f"{their}.mlp.gate_proj.weight"), of(f"{their}.mlp.up_proj.weight")
            ),
            f"{our}.feed_forward.down.kernel": dense(of(f"{their}.mlp.down_proj.weight")),
        }
    return values


@pytest.mark.parametrize("like", LIKE)
def test_outputs_and_one_step_of_training(like: str) -> None:
    dims = LIKE[like]
    workload = build(CASE, replace(SMOKE, dims=dims))
    theirs = hugging_face.LlamaForCausalLM(config(dims))
    compare(workload, theirs, partial(in_our_names, dims), learning_rate=3e-4)


@pytest.mark.parametrize("preset", ["1b", "8b"])
def test_published_wavelengths(preset: str) -> None:
    # The head size alone decides; a model of one narrow layer is enough to ask.
    published = PRESETS[preset].dims
    size = published["width"] // published["heads"]
    dims = {**published, "vocab": 8, "width": size, "hidden": 8, "heads": 1, "groups": 1, "depth": 1}
    theirs = hugging_face.LlamaForCausalLM(config(dims)).model.rotary_emb.inv_freq
    found = Rotary(dims["theta"], dims["stretch"], dims["trained_context"]).frequencies(size)
    assert relative_error(np.log(found), torch.log(theirs)) < OUTPUTS_WITHIN
