"""GPT-2 against `transformers.GPT2LMHeadModel`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from suite.spec import catalogue
from suite.workloads import build
from tests.reference.decoders import Values, as_it_is, compare
from tests.reference.support import transformers

hugging_face = transformers()

CASE = catalogue.resolve("gpt", preset="smoke", mode="train", precision="fp32", layers="unroll")
LAYERS = {
    "attention_norm.norm": "ln_1",
    "attention.qkv": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "feed_forward_norm.norm": "ln_2",
    "feed_forward.up": "mlp.c_fc",
    "feed_forward.down": "mlp.c_proj",
}


def their_gpt() -> Any:
    dims = catalogue.preset_of(CASE).dims
    config = hugging_face.GPT2Config(
        vocab_size=dims["vocab"],
        n_positions=dims["context"],
        n_embd=dims["width"],
        n_layer=dims["depth"],
        n_head=dims["heads"],
        initializer_range=0.07,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        resid_pdrop=0.0,
        attn_implementation="eager",
    )
    model = hugging_face.GPT2LMHeadModel(config)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.07)
    return model


def in_our_names(of: Callable[[str], torch.Tensor]) -> Values:
    values = {
        "tokens.embedding": as_it_is(of("transformer.wte.weight")),
        "positions.embedding": as_it_is(of("transformer.wpe.weight")),
        "norm.norm.scale": as_it_is(of("transformer.ln_f.weight")),
        "norm.norm.bias": as_it_is(of("transformer.ln_f.bias")),
    }
    for layer in range(catalogue.preset_of(CASE).dims["depth"]):
        for our, their in LAYERS.items():
            # Their layers, written as convolutions, hold weights as ours do.
            prefix, weight = f"transformer.h.{layer}.{their}", "scale" if "norm" in our else "kernel"
            values[f"blocks.blocks.layers.{layer}.{our}.{weight}"] = as_it_is(of(f"{prefix}.weight"))
            values[f"blocks.blocks.layers.{layer}.{our}.bias"] = as_it_is(of(f"{prefix}.bias"))
    return values


def test_outputs_and_one_step_of_training() -> None:
    compare(build(CASE), their_gpt(), in_our_names, learning_rate=6e-4)
