# SPDX-License-Identifier: Apache-2.0
"""Sizes of a model: bytes of its file; parameters, layers and multiply-accumulate operations of an ONNX graph."""

from __future__ import annotations

import importlib.util
import math
import os
from pathlib import Path
from typing import Any, Final

LAYERS: Final = (
    "Conv", "ConvTranspose", "Gemm", "MatMul", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool",
)  # fmt: skip
"""Convolution, pooling and fully connected layers, which Annex C counts."""


def describe_model(target: object) -> dict[str, object]:
    """What the file of a model tells; nothing where there is no file."""
    if not isinstance(target, (str, os.PathLike)) or "://" in str(target):
        return {}
    path = Path(target)
    if path.suffix.lower() not in (".onnx", ".joblib") or not path.is_file():
        return {}
    facts: dict[str, object] = {"bytes": path.stat().st_size}
    if path.suffix.lower() == ".onnx" and importlib.util.find_spec("onnx") is not None:
        facts |= read_graph(path)
    return facts


def read_graph(path: Path) -> dict[str, object]:
    """Parameters, layers, and operations of one input where all shapes are known."""
    import onnx

    model = onnx.load(str(path))
    shapes = {part.name: tuple(part.dims) for part in model.graph.initializer}
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
    parameters = sum(math.prod(part.dims) for part in model.graph.initializer if part.data_type in floats)
    facts: dict[str, object] = {
        "parameters": int(parameters),
        "depth": sum(node.op_type in LAYERS for node in model.graph.node),
    }
    inferred = onnx.shape_inference.infer_shapes(model).graph
    for value in (*inferred.value_info, *inferred.input, *inferred.output):
        dims = value.type.tensor_type.shape.dim
        shapes.setdefault(value.name, tuple(dim.dim_value or 1 for dim in dims))  # an open dimension is the batch
    counts = [_operations(node, shapes) for node in model.graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]
    if None not in counts and all(node.op_type != "ConvTranspose" for node in model.graph.node):
        facts["macs"] = sum(count for count in counts if count is not None)
    return facts


def _operations(node: Any, shapes: dict[str, tuple[int, ...]]) -> int | None:  # noqa: ANN401
    """Multiply-accumulate operations of a layer: elements of its output times those summed for each."""
    if node.output[0] not in shapes or any(name not in shapes for name in node.input[:2]):
        return None
    output, first, second = shapes[node.output[0]], shapes[node.input[0]], shapes[node.input[1]]
    if node.op_type == "Conv":
        return math.prod(output) * math.prod(second[1:])
    if node.op_type == "Gemm":
        swapped = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
        return math.prod(output) * (first[0] if swapped else first[-1])
    return math.prod(output) * first[-1] if first else None
