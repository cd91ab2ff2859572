"""Files that are whole on the outside, checksums and all, and broken inside."""

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from fuzz.mutations import mutated

from budgetsvm._common.files.records import FileKind, from_bytes, to_bytes
from budgetsvm._common.records import Record

_ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**31,
        2**62,
        10**30,
        0.5,
        -1.0,
        1e308,
        float("nan"),
        float("inf"),
    ),
    *("", "x", "rbf", "é" * 50, [], [1], [[]], {}, {"a": 1}, {"$array": "a"}, {"$number": "inf"}),
)


def record_inside(seeds: Sequence[bytes], kind: FileKind, number: int) -> bytes:
    """Return a file in whose record some values are others, or missing."""
    rng = random.Random(number)
    record = _copied(_record(rng.choice(seeds), kind))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = _places(record, [])
        holder, key = rng.choice(places)
        accident = rng.randrange(4)
        if accident == 0 and isinstance(holder, dict):
            del holder[key]
        elif accident == 1:
            other, its_key = rng.choice(places)
            holder[key] = _copied(other[its_key])
        elif isinstance(holder[key], np.ndarray) and holder[key].dtype.kind in "biuf":
            holder[key] = _array(holder[key], rng)
        else:
            holder[key] = _copied(rng.choice(_ODD))
    return b"".join(to_bytes(record, kind))


@cache
def _record(seed: bytes, kind: FileKind) -> Record:
    return from_bytes(seed, "a seed", kind)


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Add everything that is in a record, as what holds it and under which key."""
    for key, one in value.items() if type(value) is dict else enumerate(value):
        found.append((value, key))
        if type(one) in (dict, list):
            _places(one, found)
    return found


def _copied(value: Any) -> Any:
    """Return a copy: a record that holds itself cannot be written. Arrays are never changed in place."""
    if type(value) is dict:
        return {key: _copied(one) for key, one in value.items()}
    if type(value) is list:
        return [_copied(one) for one in value]
    return value


def _array(array: Any, rng: random.Random) -> Any:
    """Return another array."""
    changes: list[Callable[[], Any]] = [
        lambda: array[: len(array) // 2] if array.ndim else array,
        lambda: array.reshape(-1),
        lambda: array[np.newaxis],
        lambda: array.T,
        lambda: np.concatenate([array.reshape(-1)] * 3),
        lambda: array.astype(rng.choice((np.float32, np.float64, np.int32, np.int64, np.uint8))),
        lambda: np.zeros(0, array.dtype),
    ]
    if array.size and rng.random() < 0.5:
        array = array.copy()
        worse = {"f": (np.nan, np.inf, 1e300, -1, 0), "i": (-1, 0, 1, 127)}
        with np.errstate(all="ignore"):
            one = np.array(rng.choice(worse.get(array.dtype.kind, (0, 1)))).astype(array.dtype)
        array.reshape(-1)[rng.randrange(array.size)] = one
        return array
    with np.errstate(all="ignore"):
        return rng.choice(changes)()


def compressed_inside(seeds: Sequence[bytes], number: int) -> bytes:
    """Return a broken text in one whole stream or two, with something behind them now and then."""
    rng = random.Random(number)
    text, squeeze = (
        mutated(seeds, (), number),
        rng.choice((bz2.compress, lzma.compress, partial(gzip.compress, mtime=0))),
    )
    cut = rng.choice((0, rng.randint(0, len(text))))
    more = rng.choice((b"", b"", bytes(8), rng.randbytes(20)))
    return squeeze(text[:cut]) + squeeze(text[cut:]) + more


def arrays_inside(seeds: Sequence[bytes], tokens: Sequence[bytes], number: int) -> bytes:
    """Return an archive with arrays of which one or two are broken."""
    rng = random.Random(number)
    with zipfile.ZipFile(io.BytesIO(rng.choice(seeds))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in rng.sample(list(members), min(len(members), rng.choice((1, 1, 2)))):
        whole = [members[name]] if rng.random() < 0.7 else list(members.values())
        members[name] = mutated(whole, tokens, number)
    file = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, content in members.items():  # and not when it was made
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return file.getvalue()
