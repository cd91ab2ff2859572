"""Digests of data: whatever differs shows."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from budgetsvm._estimators.checkpoints.file import CheckpointFile
from budgetsvm._estimators.checkpoints.fingerprint import _WORDS, Digest


def digits(*values: object) -> str:
    digest = Digest()
    for value in values:
        digest.add(value)
    return digest.text()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint16, bool])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 1000, _WORDS + 3, 3 * _WORDS])
def test_one_value_that_differs_shows(dtype: type, size: int) -> None:
    rng = np.random.default_rng(size)
    rows = rng.integers(0, 2, size).astype(dtype)
    before = digits(rows)
    for place in {0, size - 1, size // 2, *rng.integers(0, size, 10).tolist()}:
        other = rows.copy()
        other[place] = 1 - other[place] if dtype is not bool else not other[place]
        assert digits(other) != before
        assert digits(rows) == before


def test_order_shape_and_type_show() -> None:
    X = np.random.default_rng(0).standard_normal((300, 7))
    swapped = X[[1, 0, *range(2, 300)]]
    seen = [X, swapped, X[:-1], X.T.copy(), X.reshape(7, 300), X.astype("f4"), X[::-1], None]
    seen += [sparse.csr_array(X), sparse.csr_array(swapped), np.zeros(0), np.zeros((0, 3)), ["a"]]
    assert all(digits(a) != digits(b) for a, b in combinations(seen, 2))
    assert digits(X[:100], X[100:]) != digits(X)
    assert digits(X, swapped) != digits(swapped, X)


def test_where_values_lie_in_memory_does_not_matter() -> None:
    X = np.random.default_rng(0).standard_normal((3000, 70))
    wide = np.zeros((3000, 141))
    wide[:, 1::2] = X
    shifted = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(X.shape)
    shifted[:] = X
    assert digits(X) == digits(np.asfortranarray(X)) == digits(wide[:, 1::2]) == digits(shifted)


def test_the_same_for_ever() -> None:
    """Of a run that goes on with another version of NumPy, say."""
    rows = np.arange(70_001, dtype=np.int64)
    assert digits(rows)[:16] == "efe270a6c4cf4ae9"


def test_time_to_put_a_state_together_counts_as_that_of_writing(tmp_path, monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr("budgetsvm._estimators.checkpoints.file.perf_counter", lambda: now[0])
    file = CheckpointFile(tmp_path / "run", 1.0)

    class Contents:
        def to_bytes(self) -> list[bytes]:
            now[0] += 0.01  # seconds that writing takes
            return [b"state"]

    now[0] = 2.0
    assert file.due()
    now[0] += 0.04  # seconds of putting the state together
    file.write(Contents())  # type: ignore[arg-type]
    now[0] += 9.9
    assert not file.due()  # 200 times 0.05 seconds
    now[0] += 0.2
    assert file.due()
