"""Real data: what is held out is never trained on, and targets are what follows."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from suite.errors import ConfigError, PlatformError
from suite.learning import data

VOCAB = 65


def test_the_text_is_long_english_and_each_paragraph_is_there_once() -> None:
    text = data.english()
    assert len(text) >= 300_000
    assert text.count(" the ") > 2_000
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    assert len(set(paragraphs)) == len(paragraphs)


def test_prose_gives_sequences_and_their_successors() -> None:
    found = data.prose({"vocab": VOCAB}, (64,))
    batch = next(found.batches(np.random.default_rng(0), 12))
    for part in (batch, found.held_out):
        assert part["inputs"].shape == part["targets"].shape
        assert part["inputs"].dtype == part["targets"].dtype == np.int32
        assert np.array_equal(part["inputs"][:, 1:], part["targets"][:, :-1])
        assert part["inputs"].min() >= 0
        assert part["inputs"].max() < VOCAB
    assert batch["inputs"].shape == (12, 64)
    assert len(found.held_out["inputs"]) == 256


def test_no_stretch_of_held_out_prose_is_trained_on() -> None:
    found = data.prose({"vocab": VOCAB}, (64,))
    train = b"".join(
        batch["inputs"].astype(np.uint8).tobytes() + b"\xff"
        for batch, _ in zip(found.batches(np.random.default_rng(0), 2_000), range(20), strict=False)
    )
    held_out = [row.astype(np.uint8).tobytes() for row in found.held_out["inputs"]]
    # A rule of a table looks like any other.
    assert sum(row in train for row in held_out) < len(held_out) / 50


def test_other_seeds_draw_other_batches_of_the_same_division() -> None:
    found = data.prose({"vocab": VOCAB}, (16,))
    first, other = (next(found.batches(np.random.default_rng(seed), 4))["inputs"] for seed in (0, 1))
    assert not np.array_equal(first, other)


def test_digits_are_divided_by_class_and_shaped_as_the_workload_takes_them() -> None:
    pytest.importorskip("sklearn")
    flat, images = data.digits({"classes": 10}, (64,)), data.digits({"classes": 10}, (8, 8, 3))
    assert flat.facts.train_items + flat.facts.held_out_items == 1_797
    assert set(np.bincount(flat.held_out["targets"])) <= {34, 35, 36}
    assert np.array_equal(images.held_out["inputs"][..., 2].reshape(-1, 64), flat.held_out["inputs"])
    epoch = flat.facts.train_items // 64
    batches = flat.batches(np.random.default_rng(0), 64)
    seen = np.concatenate([next(batches)["inputs"] for _ in range(epoch)])
    assert len(np.unique(seen, axis=0)) >= len(seen) - 2  # an epoch has each image at most once
    held_out = {row.tobytes() for row in flat.held_out["inputs"]}
    assert not any(row.tobytes() in held_out for row in seen)


@pytest.mark.parametrize(("dims", "shape"), [({"classes": 10}, (784,)), ({"classes": 5}, (64,))])
def test_digits_refuse_another_shape(dims: dict[str, int], shape: tuple[int, ...]) -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(ConfigError, match="8x8 pixels in ten classes"):
        data.digits(dims, shape)


def test_a_missing_package_comes_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.executable", "/an/env/bin/python")
    data.check_installed({"prose"})
    with pytest.raises(PlatformError) as caught:
        data.check_installed({"digits", "prose"})
    assert "\n  /an/env/bin/python -m pip install scikit-learn" in str(caught.value)
