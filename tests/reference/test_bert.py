"""BERT against Hugging Face's BertModel and BertForMaskedLM, trained by `torch.optim.AdamW`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import pytest
import torch

from suite.spec import catalogue
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.support import (
    OUTPUTS_WITHIN,
    dense,
    named,
    ours,
    relative_error,
    transformers,
    with_values,
)

hugging_face = transformers()
PUBLISHED = {"base": 109_482_240, "large": 335_141_888}


def config(dims: Mapping[str, int], depth: int | None = None) -> Any:
    return hugging_face.BertConfig(
        vocab_size=dims["vocab"],
        hidden_size=dims["width"],
        num_hidden_layers=dims["depth"] if depth is None else depth,
        num_attention_heads=dims["heads"],
        intermediate_size=4 * dims["width"],
        max_position_embeddings=dims["context"],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=None,
    )


def encoder(theirs: Any) -> dict[str, np.ndarray]:
    """Their encoder's weights by our names."""
    tables = theirs.embeddings
    values = {
        "tokens.embedding": vector(tables.word_embeddings.weight),
        "positions.embedding": vector(tables.position_embeddings.weight),
        "types.embedding": vector(tables.token_type_embeddings.weight),
        **normalisation("norm", tables.LayerNorm),
    }
    for index, layer in enumerate(theirs.encoder.layer):
        mine, attention = f"blocks.blocks.layers.{index}", layer.attention
        qkv = (attention.self.query, attention.self.key, attention.self.value)
        values[f"{mine}.attention.qkv.kernel"] = np.concatenate([dense(each.weight) for each in qkv], axis=1)
        values[f"{mine}.attention.qkv.bias"] = np.concatenate([vector(each.bias) for each in qkv])
        values |= linear(f"{mine}.attention.out", attention.output.dense)
        values |= normalisation(f"{mine}.attention_norm", attention.output.LayerNorm)
        values |= linear(f"{mine}.feed_forward.up", layer.intermediate.dense)
        values |= linear(f"{mine}.feed_forward.down", layer.output.dense)
        values |= normalisation(f"{mine}.feed_forward_norm", layer.output.LayerNorm)
    return {f"encoder.{name}": value for name, value in values.items()}


def masked_model(theirs: Any) -> dict[str, np.ndarray]:
    head = theirs.cls.predictions
    return {
        **encoder(theirs.bert),
        **linear("transform", head.transform.dense),
        **normalisation("norm", head.transform.LayerNorm),
        "bias": vector(head.bias),
    }


def linear(name: str, theirs: torch.nn.Linear) -> dict[str, np.ndarray]:
    return {f"{name}.kernel": dense(theirs.weight), f"{name}.bias": vector(theirs.bias)}


def normalisation(name: str, theirs: torch.nn.LayerNorm) -> dict[str, np.ndarray]:
    return {f"{name}.norm.scale": vector(theirs.weight), f"{name}.norm.bias": vector(theirs.bias)}


def vector(parameter: torch.Tensor) -> np.ndarray:
    return parameter.detach().numpy().copy()


def filled_with_gradients(theirs: torch.nn.Module) -> Any:
    """A copy of their model that has its gradients for weights."""
    filled = copy.deepcopy(theirs)
    for weight, source in zip(filled.parameters(), theirs.parameters(), strict=True):
        weight.data = source.grad
    return filled


def tensors(inputs: tuple[np.ndarray, ...]) -> list[torch.Tensor]:
    return [torch.from_numpy(each).long() for each in inputs]


def test_outputs_and_one_step_of_training() -> None:
    case = catalogue.resolve("bert", preset="smoke", mode="train", precision="fp32", layers="unroll")
    workload, state, batch = ours(case)
    theirs = hugging_face.BertForMaskedLM(config(catalogue.preset_of(case).dims))
    state = state._replace(params=with_values(state.params, masked_model(theirs)))
    tokens, types, masked = tensors(batch["inputs"])
    everywhere = theirs(input_ids=tokens, token_type_ids=types).logits
    logits = torch.take_along_dim(everywhere, masked[..., None], dim=1)
    assert relative_error(jax.jit(workload.forward)(state, batch), logits) < OUTPUTS_WITHIN

    targets = torch.from_numpy(batch["targets"]).long().flatten()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets, label_smoothing=LABEL_SMOOTHING)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
    gradients = masked_model(filled_with_gradients(theirs))
    torch.optim.AdamW(theirs.parameters(), lr=1e-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01).step()
    new_state, outputs = jax.jit(workload.step)(state, batch)
    assert relative_error(outputs["loss"], loss) < OUTPUTS_WITHIN
    updated, moments = named(new_state.params), named(new_state.optimiser[1][0].mu)
    largest = max(np.abs(gradient).max() for gradient in gradients.values())
    for name, expected in masked_model(theirs).items():
        gradient = gradients[name]
        np.testing.assert_allclose(moments[name] / 0.1, gradient, atol=OUTPUTS_WITHIN * largest, err_msg=name)
        # One step of Adam moves a weight by the learning rate either way, however small its gradient:
        # where that is all but zero, its rounding decides the direction.
        clear = np.abs(gradient) > OUTPUTS_WITHIN * largest
        np.testing.assert_allclose(updated[name][clear], expected[clear], atol=2e-6, err_msg=name)


@pytest.mark.parametrize(("preset", "layers", "depth"), [("smoke", "unroll", 2), ("base", "scan", 12)])
def test_hidden_states_and_pooled_output(preset: str, layers: str, depth: int) -> None:
    settings: dict[str, Any] = {"batch": 2} if preset == "smoke" else {"batch": 1, "params": {"seq": 16}}
    case = catalogue.resolve("bert", preset=preset, mode="infer", precision="fp32", layers=layers, **settings)
    workload, state, batch = ours(case)
    theirs = hugging_face.BertModel(config(catalogue.preset_of(case).dims)).eval()
    values = {**encoder(theirs), **linear("pooler", theirs.pooler.dense)}
    if layers == "scan":
        values = stacked(values, depth)
    state = state._replace(params=with_values(state.params, values))
    tokens, types = tensors(batch["inputs"])
    with torch.no_grad():
        expected = theirs(input_ids=tokens, token_type_ids=types)
    _, found = jax.jit(workload.step)(state, batch)
    assert relative_error(found.hidden, expected.last_hidden_state) < OUTPUTS_WITHIN
    assert relative_error(found.pooled, expected.pooler_output) < OUTPUTS_WITHIN
    if preset in PUBLISHED:
        assert sum(parameter.numel() for parameter in theirs.parameters()) == PUBLISHED[preset]


@pytest.mark.parametrize("preset", PUBLISHED)
def test_parameters_are_theirs(preset: str) -> None:
    size = catalogue.get("bert").presets[preset]
    with torch.device("meta"):
        counts = [
            sum(parameter.numel() for parameter in model(config(size.dims)).parameters())
            for model in (hugging_face.BertModel, hugging_face.BertForMaskedLM)
        ]
    assert counts == [size.parameters_in("infer"), size.parameters_in("train")]
    assert size.parameters == PUBLISHED[preset]


def stacked(values: Mapping[str, np.ndarray], depth: int) -> dict[str, np.ndarray]:
    """The weights with those of all blocks along a leading axis, as scanned layers have them."""
    layers = "encoder.blocks.blocks.layers."
    inside = [name.removeprefix(f"{layers}0.") for name in values if name.startswith(f"{layers}0.")]
    outside = {name: value for name, value in values.items() if not name.startswith(layers)}
    return outside | {
        f"encoder.blocks.blocks.{name}": np.stack(
            [values[f"{layers}{index}.{name}"] for index in range(depth)]
        )
        for name in inside
    }
