"""A compiled program's text, read: operations, loops, FLOPs and bytes, against figures worked out by hand."""

from __future__ import annotations

import pytest

from suite.forecast import hlo
from suite.forecast.schedule import Schedule, schedule

# ruff: noqa: E501 (the compilers write long lines)
# A loop of three turns; each multiplies by one layer of a stack, and writes its row of the results.
LOOP = """
HloModule jit_step, is_scheduled=true

%fused_slice (p.0: f32[3,64,64], p.1: s32[]) -> f32[64,64] {
  %p.0 = f32[3,64,64]{2,1,0} parameter(0)
  %p.1 = s32[] parameter(1)
  %zero.1 = s32[] constant(0)
  %slice.1 = f32[1,64,64]{2,1,0} dynamic-slice(%p.0, %p.1, %zero.1, %zero.1), dynamic_slice_sizes={1,64,64}
  ROOT %layer = f32[64,64]{1,0} bitcast(%slice.1)
}

%fused_update (q.0: f32[3,8,64], q.1: f32[8,64], q.2: s32[]) -> f32[3,8,64] {
  %q.0 = f32[3,8,64]{2,1,0} parameter(0)
  %q.1 = f32[8,64]{1,0} parameter(1)
  %row = f32[1,8,64]{2,1,0} bitcast(%q.1)
  %q.2 = s32[] parameter(2)
  %zero.2 = s32[] constant(0)
  ROOT %kept = f32[3,8,64]{2,1,0} dynamic-update-slice(%q.0, %row, %q.2, %zero.2, %zero.2)
}

%body (arg: (s32[], f32[8,64], f32[3,64,64], f32[3,8,64])) -> (s32[], f32[8,64], f32[3,64,64], f32[3,8,64]) {
  %arg = (s32[], f32[8,64]{1,0}, f32[3,64,64]{2,1,0}, f32[3,8,64]{2,1,0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %x = f32[8,64]{1,0} get-tuple-element(%arg), index=1
  %stack = f32[3,64,64]{2,1,0} get-tuple-element(%arg), index=2
  %rows = f32[3,8,64]{2,1,0} get-tuple-element(%arg), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %w = f32[64,64]{1,0} fusion(%stack, %i), kind=kLoop, calls=%fused_slice
  %y = f32[8,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}OPERANDS
  %more = f32[3,8,64]{2,1,0} fusion(%rows, %y, %i), kind=kLoop, calls=%fused_update
  ROOT %turn = (s32[], f32[8,64]{1,0}, f32[3,64,64]{2,1,0}, f32[3,8,64]{2,1,0}) tuple(%next, %y, %stack, %more)
}

%condition (arg.1: (s32[], f32[8,64], f32[3,64,64], f32[3,8,64])) -> pred[] {
  %arg.1 = (s32[], f32[8,64]{1,0}, f32[3,64,64]{2,1,0}, f32[3,8,64]{2,1,0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%arg.1), index=0
  %limit = s32[] constant(3)
  ROOT %less = pred[] compare(%i.1, %limit), direction=LT
}

ENTRY %main (x.0: f32[8,64], w.0: f32[3,64,64], rows.0: f32[3,8,64]) -> f32[3,8,64] {
  %x.0 = f32[8,64]{1,0} parameter(0)
  %w.0 = f32[3,64,64]{2,1,0} parameter(1)
  %rows.0 = f32[3,8,64]{2,1,0} parameter(2)
  %start = s32[] constant(START)
  %init = (s32[], f32[8,64]{1,0}, f32[3,64,64]{2,1,0}, f32[3,8,64]{2,1,0}) tuple(%start, %x.0, %w.0, %rows.0)
  %loop = (s32[], f32[8,64]{1,0}, f32[3,64,64]{2,1,0}, f32[3,8,64]{2,1,0}) while(%init), condition=%condition, body=%bodyKNOWN
  ROOT %out = f32[3,8,64]{2,1,0} get-tuple-element(%loop), index=3
}
"""
LAYER, ROW = 64 * 64 * 4, 8 * 64 * 4
PRODUCTS = 2 * 8 * 64 * 64


def read(text: str, *, start: int = 0, known: str = "", operands: str = "") -> Schedule:
    text = text.replace("START", str(start)).replace("KNOWN", known).replace("OPERANDS", operands)
    return schedule(hlo.parse(text))


def flops(found: Schedule) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in found.operations:
        for dtype, count in each.flops.items():
            total[dtype] = total.get(dtype, 0) + count * each.runs
    return total


def moved(found: Schedule) -> dict[str, int]:
    return {each.name: each.bytes * each.runs for each in found.operations if each.bytes}


def entry(*lines: str) -> Schedule:
    inside = "\n".join(f"  {line}" for line in lines)
    return schedule(hlo.parse(f"ENTRY %main (a: f32[1]) -> f32[1] {{\n{inside}\n}}\n"))


def test_a_loop_counts_as_often_as_it_runs() -> None:
    found = read(LOOP)
    assert found.unknown_loops == 0
    assert flops(found) == {"f32": 3 * PRODUCTS}


def test_a_slice_of_a_stack_reads_the_slice_and_an_update_in_place_writes_the_update() -> None:
    small = 4  # the loop's counter, read beside
    assert moved(read(LOOP)) == {
        "next": 3 * 3 * 4,
        "w": 3 * (LAYER + small + LAYER),
        "y": 3 * (ROW + LAYER + ROW),
        "more": 3 * (ROW + small + ROW),
        "less": 3 * (4 + 4 + 1),
    }


def test_what_the_text_says_of_a_loop_comes_first() -> None:
    known = ', backend_config={"known_trip_count":{"n":"5"}}'
    assert flops(read(LOOP, known=known)) == {"f32": 5 * PRODUCTS}


def test_a_loop_of_unknown_length_counts_once_and_is_told() -> None:
    found = read(LOOP, start=1)
    assert found.unknown_loops == 1
    assert flops(found) == {"f32": PRODUCTS}


def test_strict_float32_is_told_from_the_hardwares_own() -> None:
    found = read(LOOP, operands=", operand_precision={highest,highest}")
    assert flops(found) == {"f32:highest": 3 * PRODUCTS}


@pytest.mark.parametrize(
    ("image", "kernel", "result", "window", "multiply_adds"),
    [
        # 3 taps at 4 positions with one value of padding at each end: 12 pairs, of which 2 meet padding.
        (4, 3, 4, "size=3 pad=1_1", 10),
        (5, 3, 2, "size=3 stride=2", 6),
        # The gradient of a stride: zeros between the values meet no tap.
        (2, 3, 5, "size=3 pad=2_2 lhs_dilate=2", 6),
        (5, 2, 3, "size=2 rhs_dilate=2", 6),
        (4, 1, 4, "size=1", 4),
    ],
)
def test_a_convolution_skips_padding_and_zeros(
    image: int, kernel: int, result: int, window: str, multiply_adds: int
) -> None:
    found = entry(
        f"%a = bf16[2,{image},8]{{2,1,0}} parameter(0)",
        f"%k = bf16[{kernel},8,16]{{2,1,0}} parameter(1)",
        f"ROOT %c = bf16[2,{result},16]{{2,1,0}} convolution(%a, %k), window={{{window}}}, dim_labels=b0f_0io->b0f",
    )
    assert flops(found) == {"bf16": 2 * multiply_adds * 2 * 8 * 16}


def test_a_product_written_as_a_convolution_without_a_window() -> None:
    found = entry(
        "%a = bf16[32,100]{1,0} parameter(0)",
        "%k = bf16[100,50]{1,0} parameter(1)",
        "ROOT %c = bf16[32,50]{1,0} convolution(%a, %k), dim_labels=bf_io->bf",
    )
    assert flops(found) == {"bf16": 2 * 32 * 100 * 50}


@pytest.mark.parametrize(
    ("target", "operands", "result"),
    [
        ("__cudnn$convForward", ("2,8,8,4", "16,3,3,4"), "2,8,8,16"),
        ("__cudnn$convBackwardInput", ("2,8,8,16", "16,3,3,4"), "2,8,8,4"),
        ("__cudnn$convBackwardFilter", ("2,8,8,4", "2,8,8,16"), "16,3,3,4"),
    ],
)
def test_the_three_convolutions_of_cudnn_do_the_same_work(
    target: str, operands: tuple[str, str], result: str
) -> None:
    found = entry(
        f"%a = f16[{operands[0]}]{{3,2,1,0}} parameter(0)",
        f"%b = f16[{operands[1]}]{{3,2,1,0}} parameter(1)",
        f"%c = (f16[{result}]{{3,2,1,0}}, u8[0]{{0}}) custom-call(%a, %b), window={{size=3x3 pad=1_1x1_1}}, "
        f'dim_labels=b01f_o01i->b01f, custom_call_target="{target}"',
        f"ROOT %d = f16[{result}]{{3,2,1,0}} get-tuple-element(%c), index=0",
    )
    pairs = 3 * 8 - 2  # of one axis: the first and the last position each lose a tap to padding
    assert flops(found) == {"f16": 2 * pairs**2 * 2 * 4 * 16}


def test_a_product_of_cublas_is_read_from_its_own_numbers() -> None:
    found = entry(
        "%a = bf16[32,100]{1,0} parameter(0)",
        "%b = bf16[100,50]{1,0} parameter(1)",
        '%c = (bf16[32,50]{1,0}, s8[4]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", backend_config='
        '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
        '"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}}',
        "ROOT %d = bf16[32,50]{1,0} get-tuple-element(%c), index=0",
    )
    assert flops(found) == {"bf16": 2 * 32 * 100 * 50}


def test_memory_on_the_chip_costs_nothing_and_a_copy_into_it_costs_its_bytes_once() -> None:
    found = entry(
        "%a = f32[100]{0} parameter(0)",
        "%s = (f32[100]{0:S(1)}, f32[100]{0}, u32[]{:S(2)}) copy-start(%a)",
        "%d = f32[100]{0:S(1)} copy-done(%s)",
        "%n = f32[100]{0:S(1)} negate(%d)",
        "%part = ((f32[100]{0}), f32[25]{0:S(1)}, s32[]{:S(2)}) slice-start(%a), slice={[0:25]}",
        "ROOT %e = f32[100]{0} exponential(%n)",
    )
    assert moved(found) == {"s": 400, "part": 100, "e": 400}
    assert [each.name for each in found.operations if each.overlaps] == ["s", "part"]


def test_an_array_that_a_fusion_only_hands_on_is_read() -> None:
    text = """
%hand_on (p: bf16[10,10]) -> bf16[10,10] {
  %p = bf16[10,10]{1,0} parameter(0)
  ROOT %same = bf16[10,10]{1,0} bitcast(%p)
}

%product (q.0: bf16[10,10], q.1: bf16[10,10]) -> bf16[10,10] {
  %q.0 = bf16[10,10]{1,0} parameter(0)
  %q.1 = bf16[10,10]{1,0} parameter(1)
  %inner = bf16[10,10]{1,0} fusion(%q.1), kind=kLoop, calls=%hand_on
  ROOT %c = bf16[10,10]{1,0} convolution(%q.0, %inner), dim_labels=bf_io->bf
}

ENTRY %main (a: bf16[10,10], b: bf16[10,10]) -> bf16[10,10] {
  %a = bf16[10,10]{1,0} parameter(0)
  %b = bf16[10,10]{1,0} parameter(1)
  ROOT %f = bf16[10,10]{1,0} fusion(%a, %b), kind=kOutput, calls=%product, backend_config={"estimated_cycles":"77"}
}
"""
    found = schedule(hlo.parse(text))
    assert moved(found) == {"f": 3 * 200}
    assert flops(found) == {"bf16": 2000}
    assert found.cycles() == 77


def test_a_branch_counts_as_the_cheaper() -> None:
    text = """
%dear (p: f32[100]) -> f32[100] {
  %p = f32[100]{0} parameter(0)
  ROOT %r = f32[100]{0} negate(%p)
}

%cheap (q: f32[100]) -> f32[100] {
  ROOT %q = f32[100]{0} parameter(0)
}

ENTRY %main (i: s32[], a: f32[100]) -> f32[100] {
  %i = s32[] parameter(0)
  %a = f32[100]{0} parameter(1)
  ROOT %c = f32[100]{0} conditional(%i, %a, %a), branch_computations={%dear, %cheap}
}
"""
    assert moved(schedule(hlo.parse(text))) == {}


def test_exchanges_between_devices_are_told_apart() -> None:
    found = entry(
        "%a = f32[100]{0} parameter(0)",
        "%s = f32[100]{0} all-reduce-start(%a), replica_groups={{0,1}}, to_apply=%sum",
        "%d = f32[100]{0} all-reduce-done(%s)",
        "ROOT %g = f32[200]{0} all-gather(%d), dimensions={0}",
    )
    kinds = [(each.collective, each.result_bytes) for each in found.operations if each.collective]
    assert kinds == [("all-reduce", 400), ("all-gather", 800)]


def test_a_text_without_an_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="no ENTRY computation"):
        hlo.parse("HloModule empty")
