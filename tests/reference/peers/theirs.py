"""The peers: models of timm and Hugging Face transformers on PyTorch, and their weights by our names."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from suite.spec.catalogue import Dims
from suite.spec.catalogue.resnet import stages_of
from tests.reference.support import convolution, dense, timm, transformers

Weights = dict[str, np.ndarray]


def vector(parameter: torch.Tensor) -> np.ndarray:
    return parameter.detach().numpy().copy()


def linear(name: str, layer: Any) -> Weights:
    return {f"{name}.kernel": dense(layer.weight), f"{name}.bias": vector(layer.bias)}


def conv1d(name: str, layer: Any) -> Weights:
    """GPT-2's own layer, whose weight is (inputs, outputs) as ours is."""
    return {f"{name}.kernel": vector(layer.weight), f"{name}.bias": vector(layer.bias)}


def norm(name: str, layer: Any) -> Weights:
    return {f"{name}.norm.scale": vector(layer.weight), f"{name}.norm.bias": vector(layer.bias)}


def resnet(dims: Dims) -> torch.nn.Module:
    module = timm().models.resnet
    model: torch.nn.Module = module.ResNet(
        module.Bottleneck if dims["bottleneck"] else module.BasicBlock,
        layers=stages_of(dims),
        num_classes=dims["classes"],
    )
    return model


def resnet_weights(model: Any, dims: Dims) -> Weights:
    def unit(name: str, conv: Any, bn: Any) -> Weights:
        return {f"{name}.conv.kernel": convolution(conv.weight), **norm(name, bn)}

    names = ("down", "conv", "up") if dims["bottleneck"] else ("first", "second")
    values = unit("stem", model.conv1, model.bn1)
    stages = (model.layer1, model.layer2, model.layer3, model.layer4)
    for index, block in enumerate(block for stage in stages for block in stage):
        for number, name in enumerate(names, start=1):
            values |= unit(
                f"blocks.layers.{index}.{name}",
                getattr(block, f"conv{number}"),
                getattr(block, f"bn{number}"),
            )
        if block.downsample is not None:
            values |= unit(f"blocks.layers.{index}.shortcut", block.downsample[0], block.downsample[1])
    return values | linear("head", model.fc)


def vit(dims: Dims) -> torch.nn.Module:
    model: torch.nn.Module = timm().models.vision_transformer.VisionTransformer(
        img_size=dims["image"],
        patch_size=dims["patch"],
        num_classes=dims["classes"],
        embed_dim=dims["width"],
        depth=dims["depth"],
        num_heads=dims["heads"],
    )
    return model


def vit_weights(model: Any, dims: Dims) -> Weights:
    patches = model.patch_embed.proj
    values = {
        "patches.kernel": convolution(patches.weight).reshape(-1, dims["width"]),
        "patches.bias": vector(patches.bias),
        "class_token": vector(model.cls_token)[0, 0],
        "positions": vector(model.pos_embed)[0],
        **norm("norm", model.norm),
        **linear("head", model.head),
    }
    for index, block in enumerate(model.blocks):
        name = f"blocks.blocks.layers.{index}"
        values |= norm(f"{name}.attention_norm", block.norm1) | norm(f"{name}.feed_forward_norm", block.norm2)
        values |= linear(f"{name}.attention.qkv", block.attn.qkv)
        values |= linear(f"{name}.attention.out", block.attn.proj)
        values |= linear(f"{name}.feed_forward.up", block.mlp.fc1)
        values |= linear(f"{name}.feed_forward.down", block.mlp.fc2)
    return values


class MaskedBert(torch.nn.Module):
    """Predicts the masked tokens alone, as ours does: the head over all tokens would be most of its work."""

    def __init__(self, dims: Dims) -> None:
        super().__init__()
        library = transformers()
        from tests.reference.test_bert import config

        self.model = library.BertForMaskedLM(config(dims))

    def forward(self, tokens: torch.Tensor, types: torch.Tensor, masked: torch.Tensor) -> torch.Tensor:
        hidden = self.model.bert(input_ids=tokens, token_type_ids=types).last_hidden_state
        logits: torch.Tensor = self.model.cls(torch.take_along_dim(hidden, masked[..., None], dim=1))
        return logits


def bert(dims: Dims) -> torch.nn.Module:
    return MaskedBert(dims)


def bert_weights(model: Any, dims: Dims) -> Weights:
    from tests.reference.test_bert import masked_model

    return masked_model(model.model)


class GPT2(torch.nn.Module):
    """The language model, without the cache that its users ask for."""

    def __init__(self, dims: Dims) -> None:
        super().__init__()
        library = transformers()
        config = library.GPT2Config(
            vocab_size=dims["vocab"],
            n_positions=dims["context"],
            n_embd=dims["width"],
            n_layer=dims["depth"],
            n_head=dims["heads"],
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            use_cache=False,
        )
        self.model = library.GPT2LMHeadModel(config)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=tokens).logits
        return logits


def gpt(dims: Dims) -> torch.nn.Module:
    return GPT2(dims)


def gpt_weights(model: Any, dims: Dims) -> Weights:
    theirs = model.model.transformer
    values = {
        "tokens.embedding": vector(theirs.wte.weight),
        "positions.embedding": vector(theirs.wpe.weight),
        **norm("norm", theirs.ln_f),
    }
    for index, block in enumerate(theirs.h):
        name = f"blocks.blocks.layers.{index}"
        values |= norm(f"{name}.attention_norm", block.ln_1) | norm(f"{name}.feed_forward_norm", block.ln_2)
        values |= conv1d(f"{name}.attention.qkv", block.attn.c_attn)
        values |= conv1d(f"{name}.attention.out", block.attn.c_proj)
        values |= conv1d(f"{name}.feed_forward.up", block.mlp.c_fc)
        values |= conv1d(f"{name}.feed_forward.down", block.mlp.c_proj)
    return values
