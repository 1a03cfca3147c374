"""The tables of docs/peers.md, from figures made by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.reference.peers import page, profiles


def process(seconds: float, losses: tuple[float, ...] = (2.0, 1.5)) -> dict[str, Any]:
    return {"losses": list(losses), "ready_s": 1.0, "step_s": [seconds] * 3}


def found(**changes: Any) -> dict[str, Any]:
    facts = {
        "cpu": "A CPU",
        "threads": 2,
        "python": "3.11",
        "versions": {"jax": "1"},
        "date": "2026-01-01",
        "load": 0.1,
    }
    pairs = {"ours": [0.1] * 8, "idiom": [0.11] * 8}
    return {
        "small": False,
        "rounds": 2,
        "facts": facts,
        "taken": {"gpt": {"unroll": [process(0.2), process(0.22)], "eager": [process(0.1), process(0.1)]}},
        "flax": {"gpt": {"pairs": pairs, "log_ratios": [math.log(1.1)] * 8}},
        "profiles": {
            "gpt": {
                "ours": {
                    "kinds": {"convolution": 1.0, "matrix product": 9.0},
                    "dearest": [["matrix product: dot", 5.0]],
                },
                "theirs": {"kinds": {"convolution": 1.5, "matrix product": 4.0}, "dearest": [["x", 1.0]]},
            }
        },
    } | changes


def test_ratios_are_to_pytorchs_faster_and_what_is_missing_is_said() -> None:
    made = page.tables(found())
    assert "| gpt | jaxmark, `unroll` | 210 ms | 200-220 | 2.10 |" in made
    assert "| gpt | PyTorch, eager | 100 ms | 100-100 | 1.00 |" in made
    assert "| gpt | PyTorch, `torch.compile` | n/a |  |  |" in made
    assert "| gpt | 100 ms | 110 ms | 1.100 (1.100 to 1.100) |" in made
    assert "| gpt | matrix product | 9.00 ms | 4.00 ms | matrix product: dot, 5.00 ms (50%) |" in made
    assert page.slower(found()) == ["gpt"]
    assert page.failures(found()) == []


def test_other_losses_are_pointed_at() -> None:
    other = {"gpt": {"unroll": [process(0.1, (2.0, 1.6))], "eager": [process(0.2)]}}
    made = page.tables(found(taken=other, profiles={}))
    assert "7e-02 (**not the same step**)" in made
    assert page.slower(found(taken=other)) == []


def test_a_contender_that_failed_is_a_row() -> None:
    broken = {"gpt": {"unroll": [process(0.1)], "compile": [{"failure": "no compiler"}]}}
    made = page.tables(found(taken=broken, flax={"gpt": {"failure": "x"}}, profiles={}))
    assert "| gpt | PyTorch, `torch.compile` | failed |  |  |" in made
    assert page.failures(found(taken=broken, profiles={})) == ["gpt compile: no compiler"]


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "peers.md"
    path.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    page.write(path, "new")
    assert path.read_text() == f"before\n{page.BEGIN}\n\nnew\n\n{page.END}\nafter\n"
    path.write_text("no markers\n")
    with pytest.raises(ValueError, match="once each"):
        page.write(path, "new")


def test_the_page_has_its_markers() -> None:
    text = (Path(__file__).parents[2] / "docs/peers.md").read_text()
    assert (text.count(page.BEGIN), text.count(page.END)) == (1, 1)


def test_an_operation_is_of_the_kind_of_what_it_multiplies() -> None:
    kinds = profiles.kinds_of(
        """HloModule jit_flat
%fused (p: f32[2]) -> f32[2] {
  ROOT %convolution.7 = f32[3,3]{1,0} convolution(%a, %b), window={size=16x16}
}
ENTRY %main (p: f32[2]) -> f32[2] {
  %fusion.1 = f32[3,3]{1,0} fusion(%p), kind=kLoop, calls=%fused, metadata={SOURCE}
  %dot.2 = f32[2]{0} dot(%p, %p), metadata={op_name="jit(flat)/dot_general"}
  %transpose_copy_fusion.4 = f32[2]{0} fusion(%p), kind=kLoop, calls=%moved
  ROOT %add.3 = f32[2]{0} add(%p, %p), metadata={op_name="jit(flat)/add"}
}
""".replace("SOURCE", 'op_name="jit(flat)/transpose(jvp(X))/conv_general_dilated"')
    )
    assert kinds["fusion.1"] == (profiles.CONVOLUTION, "gradient of conv_general_dilated")
    assert kinds["dot.2"] == (profiles.PRODUCT, "dot_general")
    assert kinds["transpose_copy_fusion.4"] == (profiles.MOVING, "transpose_copy_fusion")
    assert kinds["add.3"] == (profiles.REST, "add")
