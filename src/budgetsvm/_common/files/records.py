"""A plain record as one file: arrays side by side, and a text that says what they are.

The file is one of safetensors, which other programs can open: the length of the header, in 8 bytes; the header, in
JSON, with the type, shape and place of every array; their bytes. What is no array stands as JSON in the header's
``__metadata__``, beside a SHA-256 of all the rest of the file. Nothing in it is code, and nothing is believed: sizes
are checked against that of the file before anything is allocated.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.records import Record

_TYPES = {
    "BOOL": "|b1",
    "I8": "|i1",
    "U8": "|u1",
    "I16": "<i2",
    "U16": "<u2",
    "F16": "<f2",
    "I32": "<i4",
    "U32": "<u4",
    "F32": "<f4",
    "I64": "<i8",
    "U64": "<u8",
    "F64": "<f8",
}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_METADATA = "__metadata__"
_NO_SUM = "0" * 64  # in the place of the sum while it is computed
_PICKLE, _LATEST_PROTOCOL = 0x80, 9  # how pickles begin
_LARGEST_HEADER = 100_000_000  # that of safetensors
_ALIGNMENT = 8
_DEEPEST = 50  # records and lists within each other


@dataclass(frozen=True)
class FileKind:
    """What a file says that it is, and what messages call it."""

    format: str
    name: str


# ---- writing ----


def to_bytes(record: Record, kind: FileKind) -> list[bytes | memoryview]:
    """Return the parts of a file, in their order."""
    arrays: dict[str, NDArray[Any]] = {}
    content = json.dumps(_flat(record, "", arrays), allow_nan=False, ensure_ascii=False)
    header: Record = {_METADATA: {"format": kind.format, "sha256": _NO_SUM, "record": content}}
    at = 0
    # The widest first: then each begins at a multiple of its own width.
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        places = [at, at + array.nbytes]
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": places,
        }
        at = places[1]
    data = [arrays[name].reshape(-1).view(np.uint8).data for name in header if name in arrays]
    text = _header_text(header)
    total = _checksum(text, data)
    text = text.replace(_NO_SUM.encode(), total.encode(), 1)
    return [len(text).to_bytes(8, "little"), text, *data]


def _header_text(header: Record) -> bytes:
    text = json.dumps(header, allow_nan=False, ensure_ascii=False).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def _checksum(header: bytes, data: list[memoryview]) -> str:
    digest = hashlib.sha256(header)
    for part in data:
        digest.update(part)
    return digest.hexdigest()


def _flat(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value for JSON; its arrays are put aside under the names that stand for them."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U":
            return {"$strings": value.ravel().tolist(), "shape": value.shape}
        dtype = value.dtype.newbyteorder("<")
        if dtype not in _NAMES:
            message = f"an array of {value.dtype} ({name}) cannot be written: use one of float64"
            raise ValueError(message)
        arrays[name] = np.ascontiguousarray(value, dtype).reshape(value.shape)
        return {"$array": name}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": str(value)}
    if isinstance(value, dict):
        return {key: _flat(one, f"{name}/{key}".lstrip("/"), arrays) for key, one in value.items()}
    if isinstance(value, list):
        return [_flat(one, f"{name}/{i}", arrays) for i, one in enumerate(value)]
    return value


# ---- reading ----


def from_bytes(buffer: bytes | memoryview, where: str, kind: FileKind) -> Record:
    """Return the record of a file, whose arrays are copies. Raises a ValueError that says what is wrong."""
    header, data = _split(memoryview(buffer), where, kind)
    metadata = header.pop(_METADATA, None)
    if not isinstance(metadata, dict) or metadata.get("format") != kind.format:
        _refuse(where, f"is a safetensors file of another program or kind, not {kind.name}")
    arrays = _read_arrays(header, data, where)
    record = _deep(_json(metadata.get("record"), where, kind), arrays, where)
    if arrays:
        _refuse(where, f"is damaged: nothing refers to the array {min(arrays)!r}")
    if not isinstance(record, dict):
        _refuse(where, "is damaged: its record is none")
    return record


def _split(buffer: memoryview, where: str, kind: FileKind) -> tuple[Record, memoryview]:
    """Return header and data, after a look at the checksum."""
    length = int.from_bytes(buffer[:8], "little")
    if len(buffer) < 10 or not 2 <= length <= _LARGEST_HEADER or buffer[8] != ord("{"):
        pickle = len(buffer) > 1 and buffer[0] == _PICKLE and 2 <= buffer[1] <= _LATEST_PROTOCOL
        hint = ", but a pickle, it seems: open your own by joblib.load" if pickle else ""
        _refuse(where, f"is not {kind.name}{hint}")
    if length > len(buffer) - 8:
        _refuse(where, f"is cut off: it has {len(buffer)} bytes of {8 + length} at least")
    text, data = bytes(buffer[8 : 8 + length]), buffer[8 + length :]
    header = _json(text, where, kind)
    if not isinstance(header, dict):
        _refuse(where, f"is not {kind.name}")
    metadata = header.get(_METADATA)
    found = metadata.get("sha256") if isinstance(metadata, dict) else None
    if isinstance(found, str) and len(found) == len(_NO_SUM):
        blank = text.replace(found.encode(), _NO_SUM.encode(), 1)
        if _checksum(blank, [data]) != found:
            _refuse(where, "is damaged or cut off: its checksum is wrong")
    elif isinstance(metadata, dict) and metadata.get("format") == kind.format:
        _refuse(where, "is damaged: it lacks its checksum")
    return header, data


def _json(text: Any, where: str, kind: FileKind) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> Record:
        record = dict(pairs)
        if len(record) < len(pairs):
            raise ValueError("a name occurs twice")
        return record

    def constant(name: str) -> NoReturn:
        message = f"{name} is no JSON"
        raise ValueError(message)

    if not isinstance(text, str | bytes):
        _refuse(where, "is damaged: it has no record")
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        _refuse(where, f"is damaged, or not {kind.name} ({error})")


def _read_arrays(header: Record, data: memoryview, where: str) -> dict[str, NDArray[Any]]:
    """Return the arrays, which must fill the file without gaps."""
    places = {name: _place(entry, len(data), where) for name, entry in header.items()}
    ends = sorted(place[:2] for place in places.values())
    edges = [(0, 0), *ends, (len(data), len(data))]
    if any(before[1] != after[0] for before, after in pairwise(edges)):
        _refuse(where, "is damaged: its arrays overlap, or leave gaps")
    return {
        name: np.frombuffer(data[begin:end], dtype).reshape(shape).copy()
        for name, (begin, end, dtype, shape) in places.items()
    }


def _place(entry: Any, room: int, where: str) -> tuple[int, int, np.dtype[Any], tuple[int, ...]]:
    """Return where an array is, its type and shape."""
    if not _is_place(entry):
        _refuse(where, "is damaged: what it says of an array makes no sense")
    dtype, shape = np.dtype(_TYPES[entry["dtype"]]), tuple(entry["shape"])
    begin, end = entry["data_offsets"]
    if end - begin != dtype.itemsize * math.prod(shape) or end > room:
        _refuse(where, "is damaged: an array has not the size that it should have")
    return begin, end, dtype, shape


def _is_place(entry: Any) -> bool:
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        return False
    code, shape, offsets = (entry[name] for name in ("dtype", "shape", "data_offsets"))
    if not (isinstance(code, str) and isinstance(shape, list) and isinstance(offsets, list)):
        return False
    numbers = all(type(n) is int and 0 <= n <= 1 << 60 for n in (*shape, *offsets))
    return code in _TYPES and numbers and len(shape) <= 8 and len(offsets) == 2


def _deep(value: Any, arrays: dict[str, NDArray[Any]], where: str, depth: int = 0) -> Any:
    """Return a value with its arrays, each of which is taken once."""
    if depth > _DEEPEST:
        _refuse(where, f"is damaged: it has more than {_DEEPEST} records within each other")
    if isinstance(value, list):
        return [_deep(one, arrays, where, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$array"}:
        name = value["$array"]
        if not (isinstance(name, str) and name in arrays):
            _refuse(where, "is damaged: an array is missing")
        return arrays.pop(name)
    if value.keys() == {"$strings", "shape"}:
        return _strings(value, where)
    if value.keys() == {"$number"} and value["$number"] in ("inf", "-inf", "nan"):
        return float(value["$number"])
    return {key: _deep(one, arrays, where, depth + 1) for key, one in value.items()}


def _strings(value: Record, where: str) -> NDArray[np.str_]:
    texts, shape = value["$strings"], value["shape"]
    plain = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    sizes = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    # In an array each takes as much room as the longest.
    if not (plain and sizes and len(shape) <= 8 and math.prod(shape) == len(texts)):
        _refuse(where, "is damaged: an array of strings makes no sense")
    if len(texts) * max(map(len, texts), default=0) > 10 * sum(map(len, texts)) + 1_000_000:
        _refuse(where, "has strings of too different lengths in an array")
    return np.array(texts, np.str_).reshape(shape)


def _refuse(where: str, problem: str) -> NoReturn:
    message = f"{where} {problem}"
    raise ValueError(message)
