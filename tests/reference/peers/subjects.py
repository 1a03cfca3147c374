"""The same training step on both sides: model, batch, loss, optimiser and the same initial weights.

Each subject takes a published size at a small batch, so that a step stays under some seconds on a laptop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optax
import torch
from flax import nnx

from suite.models.precision import POLICIES
from suite.spec import catalogue
from suite.spec.case import Case
from suite.workloads.training import LABEL_SMOOTHING
from tests.reference.peers import theirs

Weights = dict[str, np.ndarray]
POLICY = POLICIES["default"]


@dataclass(frozen=True)
class Optimiser:
    """SGD with momentum, or AdamW behind a bound on the gradient's norm, in the numbers of both libraries."""

    learning_rate: float
    momentum: float | None = None
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0

    def ours(self) -> optax.GradientTransformation:
        if self.momentum is not None:
            return optax.sgd(self.learning_rate, momentum=self.momentum)
        first, second = self.betas
        adam = optax.adamw(self.learning_rate, b1=first, b2=second, weight_decay=self.weight_decay)
        return optax.chain(optax.clip_by_global_norm(1.0), adam)

    def theirs(self, model: torch.nn.Module) -> Callable[[], None]:
        """What updates their parameters from their gradients."""
        parameters = list(model.parameters())
        if self.momentum is not None:
            sgd = torch.optim.SGD(parameters, lr=self.learning_rate, momentum=self.momentum)
            return lambda: sgd.step()
        adam = torch.optim.AdamW(
            parameters, lr=self.learning_rate, betas=self.betas, weight_decay=self.weight_decay
        )

        def update() -> None:
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            adam.step()

        return update


@dataclass(frozen=True)
class Subject:
    """One model, as each side has it.

    Attributes:
        theirs: dims -> their model; it maps the batch's inputs to logits.
        weights: (their model, dims) -> its weights by our names, layers unrolled.
        idiom: dims -> our model for `nnx.jit`, layers unrolled.
        stack: path of the blocks that may be stacked; None where they cannot be.
        source: where their model comes from.
        smallest: preset that the script is tried out with.
    """

    workload: str
    preset: str
    batch: int
    theirs: Callable[[catalogue.Dims], torch.nn.Module]
    weights: Callable[[Any, catalogue.Dims], Weights]
    idiom: Callable[[catalogue.Dims, nnx.Rngs], nnx.Module]
    optimiser: Optimiser
    stack: str | None
    source: str
    smallest: str = "smoke"

    def case(self, layers: str, *, small: bool = False) -> Case:
        """The training case; `small` is a smaller one, to try the script out."""
        settings: dict[str, Any] = {"preset": self.preset, "batch": self.batch}
        if small:
            settings = {"preset": self.smallest, "batch": 2}
        return catalogue.resolve(self.workload, mode="train", precision="default", layers=layers, **settings)

    def layers(self) -> list[str]:
        return ["scan", "unroll"] if self.stack else ["unroll"]


def dims_of(case: Case) -> catalogue.Dims:
    return catalogue.dims_of(case, catalogue.preset_of(case))


def in_layout(values: Weights, subject: Subject, layers: str) -> Weights:
    """The weights as scanned layers have them, those of all blocks along a leading axis; else as they are."""
    prefix = f"{subject.stack}.layers."
    if layers == "unroll":
        return values
    blocks = [name.removeprefix(prefix).split(".", 1) for name in values if name.startswith(prefix)]
    depth, inside = 1 + max(int(index) for index, _ in blocks), sorted({name for _, name in blocks})
    outside = {name: value for name, value in values.items() if not name.startswith(prefix)}
    stacked = {
        f"{subject.stack}.{name}": np.stack([values[f"{prefix}{index}.{name}"] for index in range(depth)])
        for name in inside
    }
    return outside | stacked


def tensors(inputs: Any) -> list[torch.Tensor]:
    """A batch's inputs as theirs takes them: whole numbers as int64, images channels first."""
    arrays = inputs if isinstance(inputs, tuple) else (inputs,)
    found = [torch.from_numpy(np.array(array)) for array in arrays]
    return [
        each.permute(0, 3, 1, 2).contiguous() if each.dtype == torch.float32 else each.long()
        for each in found
    ]


def their_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), label_smoothing=LABEL_SMOOTHING
    )


def _resnet(dims: catalogue.Dims, rngs: nnx.Rngs) -> nnx.Module:
    from suite.models.resnet import ResNet
    from suite.spec.catalogue.resnet import stages_of

    return ResNet(
        stages=stages_of(dims),
        width=dims["width"],
        classes=dims["classes"],
        bottleneck=bool(dims["bottleneck"]),
        imagenet_stem=bool(dims["imagenet_stem"]),
        policy=POLICY,
        rngs=rngs,
    )


def _vit(dims: catalogue.Dims, rngs: nnx.Rngs) -> nnx.Module:
    from suite.models.vit import ViT

    names = ("image", "patch", "classes", "width", "heads", "depth")
    return ViT(**{name: dims[name] for name in names}, scan=False, policy=POLICY, rngs=rngs)


def _bert(dims: catalogue.Dims, rngs: nnx.Rngs) -> nnx.Module:
    from suite.models.bert import Encoder, MaskedLanguageModel

    names = ("vocab", "context", "width", "heads", "depth")
    encoder = Encoder(**{name: dims[name] for name in names}, scan=False, policy=POLICY, rngs=rngs)
    return MaskedLanguageModel(encoder, vocab=dims["vocab"], width=dims["width"], policy=POLICY, rngs=rngs)


def _gpt(dims: catalogue.Dims, rngs: nnx.Rngs) -> nnx.Module:
    from suite.models.gpt import GPT

    names = ("vocab", "context", "width", "heads", "depth")
    return GPT(**{name: dims[name] for name in names}, scan=False, policy=POLICY, rngs=rngs)


SUBJECTS = {
    "resnet": Subject(
        workload="resnet",
        preset="18",
        batch=4,
        theirs=theirs.resnet,
        weights=theirs.resnet_weights,
        idiom=_resnet,
        optimiser=Optimiser(0.02, momentum=0.9),
        stack=None,
        source="timm",
        smallest="18",
    ),
    "vit": Subject(
        workload="vit",
        preset="ti16",
        batch=4,
        theirs=theirs.vit,
        weights=theirs.vit_weights,
        idiom=_vit,
        optimiser=Optimiser(5e-4, weight_decay=0.05),
        stack="blocks.blocks",
        source="timm",
    ),
    "bert": Subject(
        workload="bert",
        preset="base",
        batch=1,
        theirs=theirs.bert,
        weights=theirs.bert_weights,
        idiom=_bert,
        optimiser=Optimiser(1e-4, weight_decay=0.01),
        stack="encoder.blocks.blocks",
        source="Hugging Face transformers",
    ),
    "gpt": Subject(
        workload="gpt",
        preset="char",
        batch=2,
        theirs=theirs.gpt,
        weights=theirs.gpt_weights,
        idiom=_gpt,
        optimiser=Optimiser(6e-4, betas=(0.9, 0.95), weight_decay=0.1),
        stack="blocks.blocks",
        source="Hugging Face transformers",
    ),
}
