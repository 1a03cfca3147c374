"""Configs of `jaxmark learn`."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import ConfigError
from suite.spec import config, learning

TASK = """
[[task]]
data = "digits"
workload = "mlp"
preset = "digits"
accuracy = 0.97
limit_steps = 100
evaluate_every = 10
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_the_stock_config_has_a_task_for_each_kind_of_data() -> None:
    found = learning.load("learn")
    assert {task.data for task in found.tasks} == {"digits", "prose"}
    assert (found.seeds, found.timeout_s) == (3, 1200)
    assert all(task.case.mode == "train" for task in found.tasks)


def test_a_task_is_a_case_with_data_and_a_target(tmp_path: Path) -> None:
    (task,) = learning.load(written(tmp_path, "[learn]\nseeds = 2\n" + TASK)).tasks
    assert task.key == f"digits/accuracy>=0.97/{task.case.key}"
    assert task.reached_by(0.97)
    assert not task.reached_by(0.96)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            TASK.replace("digits", "didgits", 1),
            "expected one of 'digits', 'prose', found the text \"didgits\"",
        ),
        (TASK + "loss = 1.0\n", "expected one target, 'accuracy' or 'loss', found 2"),
        (TASK.replace("accuracy = 0.97", "accuracy = 97"), "a number above 0 and at most 1"),
        (TASK.replace("limit_steps", "limit_step"), "unknown key. Did you mean 'limit_steps'"),
        (TASK.replace('"mlp"', '"linear"').replace('preset = "digits"', ""), "Unknown mode of linear"),
        (TASK.replace("evaluate_every = 10", ""), "no evaluate_every"),
        (TASK + TASK, "[[task]] 2: the task digits/accuracy>=0.97/mlp"),
        ("[learn]\nseeds = 1\n", "no tasks"),
        (TASK.replace("[[task]]", "[[case]]"), "is a config of `jaxmark run`"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        learning.load(written(tmp_path, text))
    assert said in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_the_line_of_a_mistake_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml:15: \[\[task\]\] 2, key 'limit_steps'"):
        learning.load(written(tmp_path, TASK + TASK.replace("limit_steps = 100", "limit_steps = 0")))


def test_run_refuses_it_and_does_not_list_it() -> None:
    assert "learn" not in config.available()
    with pytest.raises(ConfigError, match="is a config of `jaxmark learn`"):
        config.load("learn")


def test_flags_lay_over_the_config(tmp_path: Path) -> None:
    found = learning.load(written(tmp_path, TASK))
    changed = learning.with_overrides(found, "digits/*", 5, "90s")
    assert (changed.seeds, changed.timeout_s, changed.tasks) == (5, 90, found.tasks)
    with pytest.raises(ConfigError, match="matches no task"):
        learning.with_overrides(found, "prose/*", None, None)
    with pytest.raises(ConfigError, match="--seeds"):
        learning.with_overrides(found, None, 0, None)
