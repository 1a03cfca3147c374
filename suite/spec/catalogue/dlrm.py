"""DLRM: the click-through rate of an advertisement, from numbers and from rows of large tables.

The work of a step, for B samples with T tables of vectors D wide, N = T + 1, two FLOPs per multiply-add:

    bottom          2 B (sum of inputs x outputs over the layers that read the numbers)
    interactions    2 B N^2 D    every pair twice and each vector with itself, as executed
    top             2 B (the same sum over the layers that read the interactions)

The gradient of a product is two products, but that of the first layer is one: nothing asks for
the derivative of the loss by the data. Looking rows up is no arithmetic at all, and most of the
time: what counts are the bytes of the rows that a batch asks for.

Rows are drawn evenly. Real ones follow a power law, so that caches do better than here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from suite.spec.workload import Dims, Preset, WorkloadSpec

# Distinct values of the 26 categorical columns. Kaggle's seven days as facebookresearch/dlrm reads them; the
# terabyte of 24 days with values taken modulo 10 and, in MLPerf, 40 million (--max-ind-range).
KAGGLE = (
    1_460, 583, 10_131_227, 2_202_608, 305, 24, 12_517, 633, 3, 93_145, 5_683, 8_351_593, 3_194,
    27, 14_992, 5_461_306, 10, 5_652, 2_173, 4, 7_046_547, 18, 15, 286_181, 105, 142_572,
)  # fmt: skip
TERABYTE_10M = (
    9_980_333, 36_084, 17_217, 7_378, 20_134, 3, 7_112, 1_442, 61, 9_758_201, 1_333_352, 313_829, 10,
    2_208, 11_156, 122, 4, 970, 14, 9_994_222, 7_267_859, 9_946_608, 415_421, 12_420, 101, 36,
)  # fmt: skip
TERABYTE_40M = (
    39_884_406, 39_043, 17_289, 7_420, 20_263, 3, 7_120, 1_543, 63, 38_532_951, 2_953_546, 403_346, 10,
    2_208, 11_938, 155, 4, 976, 14, 39_979_771, 25_641_295, 39_664_984, 585_935, 12_972, 108, 36,
)  # fmt: skip


def tables_of(dims: Dims) -> tuple[int, ...]:
    """Returns the rows of each table."""
    return _numbered(dims, "table")


def bottom_of(dims: Dims) -> tuple[int, ...]:
    """Returns the widths around the layers that read the numbers: the last is that of a table's rows."""
    return (dims["features"], *_numbered(dims, "bottom"), dims["width"])


def top_of(dims: Dims) -> tuple[int, ...]:
    """Returns the widths around the layers that read the interactions: the last is 1, the logit."""
    vectors = len(tables_of(dims)) + 1
    pairs = vectors * (vectors - 1) // 2
    return (dims["width"] + pairs, *_numbered(dims, "top"), 1)


def flops(dims: Dims, mode: str, batch: int) -> dict[str, int]:
    """FLOPs of one step; the formulas are in the module's docstring."""
    vectors = len(tables_of(dims)) + 1
    forward = {
        "bottom": 2 * batch * _weights(bottom_of(dims)),
        "interactions": 2 * batch * vectors**2 * dims["width"],
        "top": 2 * batch * _weights(top_of(dims)),
    }
    terms = {f"forward_{name}": value for name, value in forward.items()}
    if mode == "infer":
        return terms
    terms |= {f"gradient_{name}": 2 * value for name, value in forward.items()}
    first, second, *_ = bottom_of(dims)
    terms["gradient_bottom"] -= 2 * batch * first * second
    return terms


def unmoved_bytes(dims: Dims, mode: str, batch: int, width: int) -> int:
    """Bytes of the tables that a step does not move: rows that no sample asks for.

    Counted as if the samples asked for as many different rows of a table as there can be, so a
    little less than is really left alone. Training writes the rows that it reads, and no others.
    """
    left = sum(max(rows - batch, 0) for rows in tables_of(dims))
    return left * dims["width"] * width * (2 if mode == "train" else 1)


def _numbered(dims: Dims, name: str) -> tuple[int, ...]:
    """Returns the dimensions name1, name2, ... as far as they go."""
    return tuple(value for key, value in dims.items() if key.startswith(name) and key[len(name) :].isdigit())


def _weights(widths: Sequence[int]) -> int:
    return sum(inputs * outputs for inputs, outputs in pairwise(widths))


def _parameters(dims: Dims) -> int:
    layers = (bottom_of(dims), top_of(dims))
    return sum(tables_of(dims)) * dims["width"] + sum(_weights(each) + sum(each[1:]) for each in layers)


def _preset(
    *,
    tables: Sequence[int],
    width: int,
    bottom: Sequence[int],
    top: Sequence[int],
    batch: int,
    source: str,
    features: int = 13,
) -> Preset:
    dims = {"features": features, "width": width}
    for name, values in (("bottom", bottom), ("top", top), ("table", tables)):
        dims |= {f"{name}{number}": value for number, value in enumerate(values, start=1)}
    return Preset(dims, _parameters(dims), batch={"train": batch, "infer": batch}, source=source)


DLRM = WorkloadSpec(
    name="dlrm",
    family="recommendation",
    summary="Click-through rate from embedding tables, trained with SGD on the rows in use",
    version=1,
    item="sample",
    modes=("train", "infer"),
    presets={
        "smoke": _preset(
            tables=(40, 3, 100, 12),
            width=16,
            bottom=(32,),
            top=(32,),
            batch=16,
            source="jaxmark's own: a correctness check in milliseconds",
        ),
        "small": _preset(
            tables=[min(rows, 100_000) for rows in KAGGLE],
            width=16,
            bottom=(512, 256, 64),
            top=(512, 256),
            batch=128,
            source="As 'kaggle', with no table above 100,000 rows: memory that any machine has",
        ),
        "kaggle": _preset(
            tables=KAGGLE,
            width=16,
            bottom=(512, 256, 64),
            top=(512, 256),
            batch=128,
            source="facebookresearch/dlrm, dlrm_s_criteo_kaggle.sh: Criteo's 7 days",
        ),
        "terabyte": _preset(
            tables=TERABYTE_10M,
            width=64,
            bottom=(512, 256),
            top=(512, 512, 256),
            batch=2_048,
            source="facebookresearch/dlrm, dlrm_s_criteo_terabyte.sh: 24 days, tables up to 10M rows",
        ),
        "mlperf": _preset(
            tables=TERABYTE_40M,
            width=128,
            bottom=(512, 256),
            top=(1_024, 1_024, 512, 256),
            batch=2_048,
            source="MLPerf Training v0.7, DLRM: 24 days, tables up to 40M rows",
        ),
    },
    default_preset="small",
    layers=("unroll",),
    flops=flops,
    items=lambda dims, mode, batch: batch,
    build="suite.workloads.dlrm:build",
    unmoved_bytes=unmoved_bytes,
)
