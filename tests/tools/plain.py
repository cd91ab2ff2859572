"""What a file would make of a snapshot."""

import io
import json
from typing import Any

import numpy as np


def assert_plain(value: Any, where: str = "snapshot") -> None:
    """There are only dicts, lists, strings, numbers, None and arrays of numbers or strings."""
    if isinstance(value, dict):
        for key, one in value.items():
            assert type(key) is str, where
            assert_plain(one, f"{where}.{key}")
    elif isinstance(value, list):
        for i, one in enumerate(value):
            assert_plain(one, f"{where}[{i}]")
    elif isinstance(value, np.ndarray):
        assert type(value) is np.ndarray, where
        assert value.dtype.kind in "biufU", where
    else:
        assert value is None or type(value) in (bool, int, float, str), where


def through_a_file(snapshot: Any) -> Any:
    """Return a snapshot that was written as text and arrays, and read again."""
    arrays: list[Any] = []

    def without(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            stream = io.BytesIO()
            np.save(stream, value, allow_pickle=False)
            arrays.append(stream.getvalue())
            return {"array": len(arrays) - 1}
        if isinstance(value, dict):
            return {key: without(one) for key, one in value.items()}
        return [without(one) for one in value] if isinstance(value, list) else value

    def again(value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"array"}:
            return np.load(io.BytesIO(arrays[value["array"]]), allow_pickle=False)
        if isinstance(value, dict):
            return {key: again(one) for key, one in value.items()}
        return [again(one) for one in value] if isinstance(value, list) else value

    return again(json.loads(json.dumps(without(snapshot))))
