"""Vision transformers against timm's, trained by `torch.optim.AdamW` with clipped gradients."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import torch

from suite.spec import catalogue
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import (
    OUTPUTS_WITHIN,
    dense,
    in_our_layout,
    named,
    ours,
    relative_error,
    timm,
    with_values,
)

# One step of Adam moves every weight by about the learning rate, whatever the size of its gradient: where
# that is near zero its rounding decides the direction. So the weights are compared, not their changes.
SMOKE = catalogue.resolve("vit", preset="smoke", mode="train", precision="fp32", layers="unroll")
PUBLISHED = catalogue.resolve("vit", preset="ti16", mode="infer", precision="fp32", layers="unroll", batch=1)
BLOCK = {
    "attention_norm.norm": "norm1",
    "attention.qkv": "attn.qkv",
    "attention.out": "attn.proj",
    "feed_forward_norm.norm": "norm2",
    "feed_forward.up": "mlp.fc1",
    "feed_forward.down": "mlp.fc2",
}


def their_vit(case: catalogue.Case) -> Any:
    """Theirs, with every parameter random: what starts at zero would not show that it is used."""
    dims = catalogue.preset_of(case).dims
    theirs = timm().models.vision_transformer.VisionTransformer(
        img_size=dims["image"],
        patch_size=dims["patch"],
        num_classes=dims["classes"],
        embed_dim=dims["width"],
        depth=dims["depth"],
        num_heads=dims["heads"],
    )
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.1 if parameter.ndim == 1 else parameter.shape[-1] ** -0.5)
    return theirs


def in_our_names(theirs: Any) -> dict[str, np.ndarray]:
    names = {"norm.norm": "norm", "head": "head"}
    for index in range(len(theirs.blocks)):
        names |= {
            f"blocks.blocks.layers.{index}.{our}": f"blocks.{index}.{name}" for our, name in BLOCK.items()
        }
    # A convolution of kernel (D, 3, P, P) is a product with the P P 3 values of a patch.
    patches = theirs.patch_embed.proj
    values = {
        "patches.kernel": dense(patches.weight.permute(0, 2, 3, 1).flatten(1)),
        "patches.bias": in_our_layout(patches.bias),
        "class_token": in_our_layout(theirs.cls_token[0, 0]),
        "positions": theirs.pos_embed[0].detach().numpy().copy(),
    }
    for our, name in names.items():
        module = theirs.get_submodule(name)
        weight = "scale" if isinstance(module, torch.nn.LayerNorm) else "kernel"
        values[f"{our}.{weight}"] = in_our_layout(module.weight)
        values[f"{our}.bias"] = in_our_layout(module.bias)
    return values


def test_outputs_and_one_step_of_training() -> None:
    workload, state, batch = ours(SMOKE)
    theirs = their_vit(SMOKE)
    state = state._replace(params=with_values(state.params, in_our_names(theirs)))
    targets = torch.from_numpy(batch["targets"]).long()
    logits = theirs(torch.from_numpy(batch["inputs"]).permute(0, 3, 1, 2))
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN

    loss = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=LABEL_SMOOTHING)
    optimiser = torch.optim.AdamW(theirs.parameters(), lr=5e-4, weight_decay=0.05)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
    optimiser.step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated = named(new_state.params)
    for name, expected in in_our_names(theirs).items():
        # The bias of the keys adds the same to all scores of a query: its gradient is zero but for rounding.
        if name.endswith("qkv.bias"):
            updated[name], expected = (
                np.delete(each.reshape(3, -1), 1, 0) for each in (updated[name], expected)
            )
        assert relative_error(updated[name], expected) < OUTPUTS_WITHIN, name


def test_outputs_at_a_published_size() -> None:
    workload, state, batch = ours(PUBLISHED)
    theirs = their_vit(PUBLISHED)
    state = state._replace(params=with_values(state.params, in_our_names(theirs)))
    with torch.no_grad():
        logits = theirs(torch.from_numpy(batch["inputs"]).permute(0, 3, 1, 2))
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN
