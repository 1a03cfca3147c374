"""Mixtral against `transformers.MixtralForCausalLM`, with room for every choice so that none is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from suite.spec import catalogue
from suite.workloads.moe import BALANCE_COEFFICIENT, build
from tests.reference.decoders import Values, as_it_is, compare, joined
from tests.reference.support import dense, transformers

hugging_face = transformers()
SMOKE = catalogue.get("moe").presets["smoke"]
DIMS = SMOKE.dims
# At 400% every expert answers every token; at 300%, still enough here, tokens are moved to their experts.
CAPACITIES = (300, 400)


def their_moe() -> Any:
    config = hugging_face.MixtralConfig(
        vocab_size=DIMS["vocab"],
        max_position_embeddings=DIMS["context"],
        hidden_size=DIMS["width"],
        intermediate_size=DIMS["hidden"],
        num_hidden_layers=DIMS["depth"],
        num_attention_heads=DIMS["heads"],
        num_key_value_heads=DIMS["groups"],
        num_local_experts=DIMS["experts"],
        num_experts_per_tok=DIMS["chosen"],
        router_aux_loss_coef=BALANCE_COEFFICIENT,
        sliding_window=None,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": float(DIMS["theta"])},
        initializer_range=0.07,
        attn_implementation="eager",
    )
    return hugging_face.MixtralForCausalLM(config)


def in_our_names(of: Callable[[str], torch.Tensor]) -> Values:
    values = {
        "tokens.embedding": as_it_is(of("model.embed_tokens.weight")),
        "norm.norm.scale": as_it_is(of("model.norm.weight")),
        "head.kernel": dense(of("lm_head.weight")),
    }
    for layer in range(DIMS["depth"]):
        our, their = f"blocks.blocks.layers.{layer}", f"model.layers.{layer}"
        values |= {
            f"{our}.attention_norm.norm.scale": as_it_is(of(f"{their}.input_layernorm.weight")),
            f"{our}.attention.qkv.kernel": joined(
                *(of(f"{their}.self_attn.{name}_proj.weight") for name in "qkv")
            ),
            f"{our}.attention.out.kernel": dense(of(f"{their}.self_attn.o_proj.weight")),
            f"{our}.experts_norm.norm.scale": as_it_is(of(f"{their}.post_attention_layernorm.weight")),
            f"{our}.experts.router": dense(of(f"{their}.mlp.gate.weight")),
            f"{our}.experts.gate_up": of_experts(of(f"{their}.mlp.experts.gate_up_proj")),
            f"{our}.experts.down": of_experts(of(f"{their}.mlp.experts.down_proj")),
        }
    return values


def of_experts(weights: torch.Tensor) -> np.ndarray:
    """Brings (E, outputs, inputs) to our (E, inputs, outputs)."""
    return as_it_is(weights).transpose(0, 2, 1).copy()


def their_balance(found: Any) -> torch.Tensor:
    return BALANCE_COEFFICIENT * hugging_face.models.mixtral.modeling_mixtral.load_balancing_loss_func(
        found.router_logits, DIMS["experts"], DIMS["chosen"]
    )


@pytest.mark.parametrize("capacity", CAPACITIES)
def test_outputs_and_one_step_of_training(capacity: int) -> None:
    case = catalogue.resolve(
        "moe", preset="smoke", mode="train", precision="fp32", layers="unroll", params={"capacity": capacity}
    )
    outputs = compare(
        build(case, SMOKE), their_moe(), in_our_names, learning_rate=3e-4, extra_loss=their_balance
    )
    assert outputs["dropped"] == 0
