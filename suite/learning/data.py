"""Real data that ships inside installed packages: nothing is downloaded, nothing is copied. No jax.

digits: 1,797 handwritten digits of 8x8 pixels, from scikit-learn (Alpaydin and Kaynak, 1998).
prose: the text of Python's own help on its language, `pydoc_data.topics`: 370,000 characters or
more of English prose with some code, once every paragraph is kept only once. It differs from one
version of Python to the next, so the hash of the text is recorded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.errors import ConfigError, PlatformError
from suite.record.learning import Data
from suite.spec.workload import Dims

HostBatch = dict[str, np.ndarray]

_SPLIT_SEED = 0
_PIECE = 4_096
_HELD_OUT_ONE_IN = 10
_MOST_WINDOWS = 256


@dataclass(frozen=True)
class Dataset:
    """Data in the shapes of one workload.

    Attributes:
        batches: (generator, size) -> endless batches of the training part.
        held_out: 'inputs' and integer 'targets' that are never trained on.
    """

    facts: Data
    batches: Callable[[np.random.Generator, int], Iterator[HostBatch]]
    held_out: HostBatch


def check_installed(names: set[str]) -> None:
    """Makes sure that the packages are there which these data are in.

    Raises:
        PlatformError: one is not; the message has the command that installs it.
    """
    if "digits" in names and importlib.util.find_spec("sklearn") is None:
        raise PlatformError(
            "the digits are data of scikit-learn, which is not installed here. Install it with:\n"
            f"  {sys.executable} -m pip install scikit-learn"
        )


def load(name: str, dims: Dims, like: Mapping[str, Any]) -> Dataset:
    """Returns the data called `name` in the shapes of a workload's own batch.

    Args:
        name: 'digits' or 'prose'.
        dims: of the workload's case.
        like: a batch of the workload, whose shapes the data take.

    Raises:
        ConfigError: the workload takes inputs that the data cannot be.
    """
    inputs = np.asarray(like["inputs"])
    return digits(dims, inputs.shape[1:]) if name == "digits" else prose(dims, inputs.shape[1:])


def digits(dims: Dims, shape: tuple[int, ...]) -> Dataset:
    """The digits as vectors (64,) or images (8, 8, channels), a fifth of each class held out.

    Raises:
        ConfigError: the workload takes other inputs, or has fewer than ten classes.
    """
    import sklearn
    from sklearn.datasets import load_digits

    found = load_digits()
    pixels, targets = found.images.astype(np.float32), found.target.astype(np.int32)
    if not (shape == (64,) or (len(shape) == 3 and shape[:2] == (8, 8))) or dims.get("classes", 10) < 10:
        raise ConfigError(
            f"the digits are 8x8 pixels in ten classes; found a workload of inputs {shape} with "
            f"{dims.get('classes')} classes. `configs/learn.toml` has presets that fit."
        )
    held_out = _stratified(targets)
    mean, deviation = pixels[~held_out].mean(), pixels[~held_out].std()
    scaled = ((pixels - mean) / deviation).reshape(len(pixels), *((64,) if len(shape) == 1 else (8, 8, 1)))
    images = np.ascontiguousarray(np.broadcast_to(scaled, (len(pixels), *shape)))
    facts = Data(
        source=f"scikit-learn {sklearn.__version__}, load_digits",
        sha256=hashlib.sha256(pixels.tobytes() + targets.tobytes()).hexdigest(),
        item="image",
        train_items=int((~held_out).sum()),
        held_out_items=int(held_out.sum()),
        division="a fifth of each class, drawn once for all seeds, is held out",
    )
    train_images, train_targets = images[~held_out], targets[~held_out]

    def batches(rng: np.random.Generator, size: int) -> Iterator[HostBatch]:
        while True:
            order = rng.permutation(len(train_images))
            for first in range(0, len(order) - size + 1, size):
                chosen = order[first : first + size]
                yield {"inputs": train_images[chosen], "targets": train_targets[chosen]}

    return Dataset(facts, batches, {"inputs": images[held_out], "targets": targets[held_out]})


def _stratified(targets: np.ndarray) -> np.ndarray:
    """Marks a fifth of each class, always the same."""
    rng, held_out = np.random.default_rng(_SPLIT_SEED), np.zeros(len(targets), dtype=bool)
    for label in np.unique(targets):
        members = rng.permutation(np.flatnonzero(targets == label))
        held_out[members[: len(members) // 5]] = True
    return held_out


def prose(dims: Dims, shape: tuple[int, ...]) -> Dataset:
    """The text as sequences of characters, one piece in ten held out.

    The vocabulary has room for the most frequent characters and one symbol for all others.

    Raises:
        ConfigError: the workload takes no sequences of tokens.
    """
    if len(shape) != 1 or "vocab" not in dims:
        raise ConfigError(f"prose is sequences of characters; found a workload of inputs {shape}.")
    text, length = english(), shape[0]
    tokens = _tokens(text, dims["vocab"])
    pieces = [tokens[first : first + _PIECE] for first in range(0, len(tokens), _PIECE)]
    last = _HELD_OUT_ONE_IN - 1
    train = np.concatenate([piece for n, piece in enumerate(pieces) if n % _HELD_OUT_ONE_IN != last])
    held_out = np.concatenate([piece for n, piece in enumerate(pieces) if n % _HELD_OUT_ONE_IN == last])
    starts = np.arange(0, len(held_out) - length, length)
    starts = starts[np.linspace(0, len(starts) - 1, min(len(starts), _MOST_WINDOWS)).astype(int)]
    facts = Data(
        source=f"Python {platform.python_version()}, pydoc_data.topics",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        item="character",
        train_items=len(train),
        held_out_items=len(starts) * length,
        division=f"of each ten pieces of {_PIECE:,} characters the last is held out; "
        f"of these, {len(starts)} stretches of {length} are evaluated",
    )

    def batches(rng: np.random.Generator, size: int) -> Iterator[HostBatch]:
        while True:
            yield _windows(train, rng.integers(0, len(train) - length, size), length)

    return Dataset(facts, batches, _windows(held_out, starts, length))


def english() -> str:
    """The topics in the order of their names, each paragraph once: many of them quote each other."""
    from pydoc_data.topics import topics

    seen: dict[str, str] = {}
    for name in sorted(topics):
        for paragraph in topics[name].split("\n\n"):
            seen.setdefault(" ".join(paragraph.split()), paragraph.strip("\n"))
    return "\n\n".join(paragraph for words, paragraph in seen.items() if words)


def _tokens(text: str, vocab: int) -> np.ndarray:
    """Numbers the characters by how frequent they are; the last number stands for all the rest."""
    ordered = sorted(Counter(text).items(), key=lambda item: (-item[1], item[0]))
    numbers = {character: n for n, (character, _) in enumerate(ordered[: vocab - 1])}
    return np.array([numbers.get(character, vocab - 1) for character in text], dtype=np.int32)


def _windows(tokens: np.ndarray, starts: np.ndarray, length: int) -> HostBatch:
    """Sequences and their successors, (len(starts), length) each."""
    found = tokens[starts[:, None] + np.arange(length + 1)]
    return {"inputs": np.ascontiguousarray(found[:, :-1]), "targets": np.ascontiguousarray(found[:, 1:])}
