"""Columns of a data frame as inputs of a graph: each of its own type outside, all numbers of one type inside.

What skl2onnx joins takes the type of its first column, so that decimals behind a column of integers would be cut off, and it
joins in single precision. So it is told that all numbers have one type, that of floats, and is put right afterwards.
"""

from typing import Any, TypeAlias

import numpy as np
from sklearn.compose import ColumnTransformer

Types: TypeAlias = dict[str, np.dtype[Any] | None]  # None: words

_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def types_of(X: Any) -> Types:
    """Return the types of the columns of a data frame by their names."""
    return {str(name): _type_of(X[name]) for name in X.columns}


def _type_of(column: Any) -> np.dtype[Any] | None:
    dtype = getattr(column.dtype, "numpy_dtype", column.dtype)
    if not isinstance(dtype, np.dtype):
        dtype = np.asarray(column).dtype
    if dtype.kind not in "biuf":
        return None
    has_gaps = dtype.kind != "f" and dtype != column.dtype and bool(column.isna().any())
    return _DOUBLE if has_gaps else dtype


def inner_types(types: Types) -> list[np.dtype[Any]]:
    """Return what numbers may be inside, best first: what has all their digits, and single precision, for which skl2onnx knows more steps."""
    widest = np.result_type(_SINGLE, *(one for one in types.values() if one is not None))
    return [_SINGLE] if widest == _SINGLE else [_DOUBLE, _SINGLE]


def are_joined(estimator: Any, types: Types) -> bool:
    """Whether the columns may come as one matrix, which all of skl2onnx knows; its ColumnTransformer looks for names."""
    parts = estimator.get_params().values() if hasattr(estimator, "get_params") else ()
    picks = any(isinstance(one, ColumnTransformer) for one in (estimator, *parts))
    return not picks and all(one is not None for one in types.values())


def declared(types: Types, inner: np.dtype[Any], *, joined: bool) -> list[tuple[str, Any]]:
    """Return the inputs as skl2onnx is to see them."""
    from skl2onnx.common import data_types as known

    numbers = known.DoubleTensorType if inner == _DOUBLE else known.FloatTensorType
    if joined:
        return [(_free("X", set(types)), numbers([None, len(types)]))]
    return [
        (name, known.StringTensorType([None, 1]) if own is None else numbers([None, 1]))
        for name, own in types.items()
    ]


def put_right(model: Any, types: Types, inner: np.dtype[Any], *, joined: bool) -> None:
    """Let a graph take columns of their own names and types, and join them without rounding."""
    from onnx.helper import make_node, make_tensor_value_info

    graph = model.graph
    _join_exactly(graph)
    inputs, known = [one.name for one in graph.input], _names_in(graph)
    taken = known | set(types)
    renamed = {name: _free(name, taken) for name in types if name in known.difference(inputs)}
    casts = {
        name: make_node("Cast", [name], [_free(f"{name}_as_float", taken)], to=_kind_of(inner))
        for name, own in types.items()
        if own is not None and own != inner
    }
    ready = [casts[name].output[0] if name in casts else name for name in types]
    nodes = list(casts.values())
    if joined:
        nodes.append(make_node("Concat", ready, inputs, axis=1))
    else:
        renamed |= dict(zip(inputs, ready, strict=True))
    _rename(graph, renamed)
    nodes += graph.node
    for field in ("input", "node", "value_info"):
        graph.ClearField(field)
    graph.node.extend(nodes)
    graph.input.extend(
        make_tensor_value_info(name, _kind_of(own), [None, 1]) for name, own in types.items()
    )


def _kind_of(own: np.dtype[Any] | None) -> int:
    """Return a type as ONNX counts them."""
    from onnx.helper import np_dtype_to_tensor_dtype

    return int(np_dtype_to_tensor_dtype(np.dtype(object) if own is None else own))


def _join_exactly(graph: Any) -> None:
    """Put columns side by side by Concat: FeatureVectorizer makes single precision of all."""
    for node in graph.node:
        if node.op_type == "FeatureVectorizer":
            node.op_type, node.domain = "Concat", ""
            node.ClearField("attribute")
            attribute = node.attribute.add()
            attribute.name, attribute.i = "axis", 1
            attribute.type = attribute.INT


def _names_in(graph: Any) -> set[str]:
    """Return the names of all values of a graph."""
    named = (*graph.input, *graph.output, *graph.initializer)
    return {one.name for one in named} | {
        name for node in graph.node for name in (*node.input, *node.output)
    }


def _rename(graph: Any, renamed: dict[str, str]) -> None:
    """Give other names to values of a graph."""
    for one in (*graph.output, *graph.initializer):
        one.name = renamed.get(one.name, one.name)
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
