"""LIBSVM and Parquet files as partitions of a cluster."""

import os
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, make_moons

from budgetsvm.distributed import DaskBudgetSVC, read_libsvm

OPTIONS: dict[str, Any] = {"C": 10.0, "gamma": 2.0, "budget": 20, "random_state": 0}


def together(blocks: list[Any]) -> tuple[Any, Any]:
    parts = dask.compute(*blocks, scheduler="synchronous")
    X = [part[0].toarray() if sparse.issparse(part[0]) else part[0] for part in parts]
    return np.concatenate(X), np.concatenate([part[1] for part in parts])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("block_bytes", [9, 100, 1 << 20])
@pytest.mark.parametrize("density", [0.2, 1.0])
@pytest.mark.parametrize("zero_based", [False, True])
def test_blocks_have_all_rows_once(
    tmp_path: Path, block_bytes: int, density: float, zero_based: bool
) -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((20, 7)) < density, rng.random((20, 7)), 0.0)
    dense[0, [0, 6]] = 1.5
    X = sparse.csr_array(dense)
    y = np.arange(20.0)
    path = tmp_path / "data.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    for named in ({}, {"n_features": 7, "zero_based": zero_based}):
        found, labels = together(read_libsvm(path, block_bytes=block_bytes, **named))
        np.testing.assert_allclose(found, X.toarray())
        np.testing.assert_array_equal(labels, y)


def test_several_files_and_no_newline_at_the_end(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_text("1 1:1\n2 2:1\n")
    paths[1].write_text("3 1:1 3:1\n4 1:1")
    X, y = together(read_libsvm(paths, block_bytes=7))
    assert X.shape == (4, 3)
    assert y.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("text", ["1 1:1\n", "1 1:1\n" * 9, "", "1 1:1\n" * 4 + "2 1:1"])
def test_a_file_that_has_changed_is_not_read(tmp_path: Path, text: str) -> None:
    """Rows would be missing, or cut in two."""
    path = tmp_path / "data"
    path.write_text("1 1:1\n" * 5)
    blocks = read_libsvm(path, block_bytes=12)
    path.write_text(text)
    with pytest.raises(
        ValueError, match=f"{len(text)} bytes, and had 30 .* call read_libsvm again"
    ):
        together(blocks)


def test_blocks_of_a_file_that_has_changed_are_others(client: Any, tmp_path: Path) -> None:
    """Also where it is as large as before, and somebody still has what was read before."""
    path = tmp_path / "data"
    path.write_text("1 1:1\n2 1:1\n")
    kept = client.persist(read_libsvm(path))
    again = client.persist(read_libsvm(path))
    assert [block.key for block in kept] == [block.key for block in again]
    path.write_text("1 1:1\n3 1:1\n")
    os.utime(path, ns=(10**18, 10**18))  # clocks of file systems are coarse
    ((_, y),) = client.gather(client.compute(read_libsvm(path)))
    assert y.tolist() == [1, 3]


def test_errors_name_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad"
    path.write_text("1 1:1\n" * 20 + "1 1:x\n")
    for block_bytes in (10, 12, 1000):
        with pytest.raises(ValueError, match="line 21, column 3"):
            together(read_libsvm(path, n_features=1, block_bytes=block_bytes))
    with pytest.raises(ValueError, match="line 21, column 3"):
        read_libsvm(path)


def test_files_that_will_not_do(tmp_path: Path) -> None:
    (tmp_path / "a.xz").write_bytes(b"")
    (tmp_path / "nothing").write_text("")
    (tmp_path / "labels").write_text("1\n2\n")
    with pytest.raises(ValueError, match="is compressed"):
        read_libsvm(tmp_path / "a.xz")
    with pytest.raises(ValueError, match="no text"):
        read_libsvm(tmp_path / "nothing")
    with pytest.raises(ValueError, match="n_features="):
        read_libsvm(tmp_path / "labels")
    with pytest.raises(FileNotFoundError):
        read_libsvm(tmp_path / "not there")


@pytest.mark.slow
def test_models_of_files(client: Any, tmp_path: Path) -> None:
    X, y = make_moons(1200, noise=0.2, random_state=0)
    X = X.round(6)
    dump_svmlight_file(X, y, str(tmp_path / "moons"), zero_based=False)
    blocks = read_libsvm(tmp_path / "moons", block_bytes=8000)
    assert len(blocks) > 2
    of_text = DaskBudgetSVC(**OPTIONS).fit(blocks)
    frame = pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "y": y})
    for i in range(3):
        frame[400 * i : 400 * (i + 1)].to_parquet(tmp_path / f"moons{i}.parquet")
    table = dd.read_parquet(tmp_path / "moons*.parquet")
    of_tables = DaskBudgetSVC(**OPTIONS).fit(table[["u", "v"]], table["y"])
    assert of_text.objective_[0] == pytest.approx(of_tables.objective_[0], rel=0.02)
    assert list(of_tables.feature_names_in_) == ["u", "v"]
    labels = of_tables.predict(table[["u", "v"]])
    assert np.mean(labels.compute().to_numpy() == y) > 0.9
    answers = np.concatenate(dask.compute(*of_text.predict(blocks)))
    assert np.mean(answers == y) > 0.9
