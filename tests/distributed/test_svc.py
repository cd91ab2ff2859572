"""The classifier on a cluster: the model of one machine, however rows come and whoever works."""

import pickle
import re
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons

import budgetsvm
from budgetsvm import BudgetSVC
from budgetsvm.distributed import DaskBudgetSVC

N, CHUNK = 3000, 700
OPTIONS: dict[str, Any] = {"C": 10.0, "gamma": 2.0, "budget": 30, "random_state": 0}


def moons() -> tuple[Any, Any]:
    return make_moons(N, noise=0.2, random_state=0)


def lazy_moons(chunk: int = CHUNK) -> tuple[Any, Any]:
    X, y = moons()
    return da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk)


def same(one: Any, other: Any) -> bool:
    """Whether two models are the same, bit for bit."""
    return (
        np.array_equal(one.dual_coef_, other.dual_coef_)
        and np.array_equal(one.support_vectors_, other.support_vectors_)
        and np.array_equal(one.intercept_, other.intercept_)
        and one.objective_ == other.objective_
    )


@pytest.fixture(scope="module")
def model(client: Any) -> DaskBudgetSVC:
    return DaskBudgetSVC(**OPTIONS).fit(*lazy_moons())


def test_the_model_is_that_of_one_machine(model: DaskBudgetSVC) -> None:
    X, y = moons()
    local = BudgetSVC(**OPTIONS).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= 0.01
    assert model.certifies_ == "span"
    assert model.objective_[0] == pytest.approx(local.objective_[0], rel=0.01)
    assert model.score(X, y) == pytest.approx(local.score(X, y), abs=0.002)
    assert model.traffic_.rounds > 0
    assert model.traffic_.sent > 0
    assert model.traffic_.received > 8 * N


def test_the_certificate_holds_for_all_rows(model: DaskBudgetSVC) -> None:
    X, y = moons()
    polished = budgetsvm.polish(
        X,
        np.where(y == 1, 1.0, -1.0),
        model.support_vectors_,
        kernel=model.kernel_,
        C=10.0,
        fit_intercept=True,
        tol=1e-4,
    )
    assert model.objective_[1] <= polished.primal * (1 + 1e-6)
    assert polished.dual <= model.objective_[0] * (1 + 1e-6)


def test_neither_workers_nor_scheduling_change_a_bit(
    model: DaskBudgetSVC, make_client: Any
) -> None:
    for n_workers in (1, 3):
        with make_client(n_workers) as other:
            assert same(DaskBudgetSVC(**OPTIONS).fit(*lazy_moons(), client=other), model)


def test_kernel_values_that_are_not_kept_change_no_bit(model: DaskBudgetSVC, client: Any) -> None:
    other = DaskBudgetSVC(**OPTIONS, memory_limit=1).fit(*lazy_moons())
    assert same(other, model)


def blocks_of(X: Any, y: Any) -> list[Any]:
    return [
        dask.delayed((X[i : i + CHUNK], y[i : i + CHUNK]), pure=False) for i in range(0, N, CHUNK)
    ]


@pytest.mark.slow
def test_forms_of_input_change_no_bit(model: DaskBudgetSVC, client: Any) -> None:
    X, y = moons()
    frame = dd.from_map(
        lambda i: pd.DataFrame(
            {"u": X[i : i + CHUNK, 0], "v": X[i : i + CHUNK, 1], "y": y[i : i + CHUNK]}
        ),
        range(0, N, CHUNK),
    )
    named = DaskBudgetSVC(**OPTIONS).fit(frame[["u", "v"]], frame["y"])
    assert same(named, model)
    assert list(named.feature_names_in_) == ["u", "v"]
    assert same(DaskBudgetSVC(**OPTIONS).fit(blocks_of(X, y)), model)
    arrays = lazy_moons()
    assert same(DaskBudgetSVC(**OPTIONS).fit(arrays[0], y), model)  # labels that are here
    values = frame[["u", "v"]].values, frame["y"].values
    assert same(DaskBudgetSVC(**OPTIONS).fit(*values), model)
    columns = arrays[0].rechunk({1: 1})
    assert same(DaskBudgetSVC(**OPTIONS).fit(columns, arrays[1].rechunk(1000)), model)


def test_sparse_chunks(client: Any) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((N, 40), density=0.2, rng=rng, format="csr")
    y = np.where(np.asarray(X[:, :20].sum(axis=1)) > np.asarray(X[:, 20:].sum(axis=1)), 2, 1)
    lazy = da.from_array(X.toarray(), chunks=(CHUNK, 40)).map_blocks(sparse.csr_array)
    options = {"C": 1.0, "budget": 40, "random_state": 0}
    found = DaskBudgetSVC(**options).fit(lazy, y)
    local = BudgetSVC(**options).fit(X, y)
    assert found.objective_[0] == pytest.approx(local.objective_[0], rel=0.01)
    assert found.kernel_.gamma == pytest.approx(local.kernel_.gamma)
    assert found.predict(lazy).compute().tolist() == found.predict(X).tolist()


def test_predictions_are_lazy(model: DaskBudgetSVC, client: Any) -> None:
    X, _ = moons()
    lazy, _ = lazy_moons()
    labels, values = model.predict(lazy), model.decision_function(lazy)
    assert isinstance(labels, da.Array)
    assert labels.chunks == (lazy.chunks[0],)
    assert labels.dtype == model.classes_.dtype
    np.testing.assert_array_equal(labels.compute(), model.predict(X))
    np.testing.assert_array_equal(values.compute(), model.decision_function(X))
    frame = dd.from_pandas(pd.DataFrame(X, columns=["u", "v"]), npartitions=3)
    series = model.predict(frame)
    assert isinstance(series, dd.Series)
    np.testing.assert_array_equal(series.compute().to_numpy(), model.predict(X))
    blocks = model.predict([dask.delayed(X[:10]), dask.delayed(X[10:15])])
    np.testing.assert_array_equal(np.concatenate(dask.compute(*blocks)), model.predict(X[:15]))


def test_the_ordinary_estimator_comes_out(model: DaskBudgetSVC, tmp_path: Path) -> None:
    X, y = moons()
    local = model.to_local()
    assert type(local) is BudgetSVC
    assert local.get_params() == model.get_params()
    np.testing.assert_array_equal(local.decision_function(X), model.decision_function(X))
    model.save(tmp_path / "moons.bsvm")
    loaded = budgetsvm.load(tmp_path / "moons.bsvm")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    local.partial_fit(X[:100], y[:100])
    again = pickle.loads(pickle.dumps(model))
    assert same(again, model)
    assert again.traffic_ == model.traffic_
    assert not hasattr(clone(model), "_expansion")


@pytest.mark.slow
def test_weights(client: Any) -> None:
    X, y = moons()
    weights = np.random.default_rng(0).integers(0, 3, N).astype(float)
    lazy, labels = lazy_moons()
    found = DaskBudgetSVC(**OPTIONS).fit(lazy, labels, da.from_array(weights, chunks=CHUNK))
    local = BudgetSVC(**OPTIONS).fit(X, y, weights)
    assert found.objective_[0] == pytest.approx(local.objective_[0], rel=0.01)
    assert found.shape_fit_ == local.shape_fit_
    balanced = DaskBudgetSVC(**OPTIONS, class_weight={0: 1.0, 1: 3.0}).fit(lazy, labels)
    heavy = BudgetSVC(**OPTIONS, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    assert balanced.objective_[0] == pytest.approx(heavy.objective_[0], rel=0.01)


def test_terms_that_are_rows_have_their_numbers(client: Any) -> None:
    X, _ = moons()
    found = DaskBudgetSVC(**OPTIONS, basis="random").fit(*lazy_moons())
    np.testing.assert_allclose(X[found.support_], found.support_vectors_, atol=1e-6)
    assert found.n_support_.sum() == len(found.support_)


@pytest.mark.slow
def test_small_partitions_are_joined(
    model: DaskBudgetSVC, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetsvm.distributed._input._CELL_VALUES", 4 * 30 * 1000.0)
    joined = DaskBudgetSVC(**OPTIONS).fit(*lazy_moons(chunk=350))  # two of them make one
    assert joined.objective_[0] == pytest.approx(model.objective_[0], rel=1e-2)
    monkeypatch.setattr("budgetsvm.distributed._input._CELL_VALUES", 0.0)
    apart = DaskBudgetSVC(**OPTIONS).fit(*lazy_moons(chunk=350))
    assert joined.traffic_.sent < apart.traffic_.sent  # coefficients go to half as many


def test_few_rows_are_solved_in_full(client: Any) -> None:
    X, y = moons()
    options = OPTIONS | {"budget": 1000}
    found = DaskBudgetSVC(**options).fit(*lazy_moons())
    assert found.certifies_ == "full problem"
    assert same(found, BudgetSVC(**options).fit(X, y))


def test_nothing_is_left_on_the_cluster(model: DaskBudgetSVC, make_client: Any) -> None:
    with make_client(1) as other:
        DaskBudgetSVC(**OPTIONS).fit(*lazy_moons(), client=other)
        for _ in range(50):
            if not other.cluster.scheduler.tasks:
                break
            other.sync(_moment)
        assert not other.cluster.scheduler.tasks


async def _moment() -> None:
    import asyncio

    await asyncio.sleep(0.1)


def test_progress_tells_rounds_gap_and_time(client: Any, capfd: pytest.CaptureFixture[str]) -> None:
    model = DaskBudgetSVC(verbose=1, **OPTIONS).fit(*lazy_moons())
    said = capfd.readouterr().err
    assert "polishing: gap" in said
    told = re.findall(r"gap [0-9.e-]+, (\d+) rounds", said)
    assert told
    assert 0 < int(told[-1]) <= model.traffic_.rounds
