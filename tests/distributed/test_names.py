"""Names of columns, types of what is given, and answers that are lazy: as of the ordinary estimators, or told."""

from typing import Any

import dask.array as da
import numpy as np
import pytest

from budgetsvm import BudgetSVC
from budgetsvm.distributed import DaskBudgetOneClassSVM, DaskBudgetSVC, DaskBudgetSVR, read_libsvm

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

pytestmark = pytest.mark.usefixtures("client")

NAMES = list("abc")
OPTIONS = {"C": 1.0, "gamma": 0.5, "budget": 20, "random_state": 0}
rng = np.random.default_rng(0)
X = rng.standard_normal((400, 3)) * [1, 3, 0.3]
y = (X[:, 0] + X[:, 1] > 0.5).astype(int)
FRAME = pd.DataFrame(X, columns=NAMES)


def lazy_frame(frame: Any = FRAME) -> Any:
    return dd.from_pandas(frame, npartitions=3)


def fitted(**options: Any) -> Any:
    return DaskBudgetSVC(**{**OPTIONS, **options}).fit(lazy_frame(), y)


def blocks_of(frame: Any) -> list[Any]:
    return [dask.delayed(frame.iloc[i : i + 100]) for i in range(0, 400, 100)]


OTHERS = {
    "another order": FRAME[list("cba")],
    "another name": FRAME.rename(columns={"a": "z"}),
    "one too few": FRAME[list("ab")],
    "one too many": FRAME.assign(d=0.0),
}


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_other_columns_are_told_before_anybody_works(what: str, method: str) -> None:
    model = fitted(loss="log_loss")
    with pytest.raises(ValueError, match="feature"):
        getattr(model, method)(lazy_frame(OTHERS[what]))
    with pytest.raises(ValueError, match="feature"):
        dask.compute(*getattr(model, method)(blocks_of(OTHERS[what])))


def test_the_same_columns_give_the_answers_of_the_ordinary_estimator() -> None:
    model = fitted()
    expected = model.to_local().predict(FRAME)
    np.testing.assert_array_equal(model.predict(lazy_frame()).compute(), expected)
    found = np.concatenate(dask.compute(*model.predict(blocks_of(FRAME))))
    np.testing.assert_array_equal(found, expected)
    arrays = model.predict(da.from_array(X, chunks=(100, 3))).compute()
    np.testing.assert_array_equal(arrays, expected)


def test_models_without_names_take_frames_by_position() -> None:
    model = DaskBudgetSVC(**OPTIONS).fit(da.from_array(X, chunks=(100, 3)), y)
    found = model.predict(lazy_frame()).compute()
    np.testing.assert_array_equal(found, model.to_local().predict(X))


def test_arrays_with_other_features_are_told_before_anybody_works() -> None:
    with pytest.raises(ValueError, match="features"):
        fitted().predict(da.from_array(X[:, :2], chunks=(100, 2)))


def test_blocks_with_columns_in_another_order_are_refused() -> None:
    blocks = blocks_of(FRAME)
    blocks[2] = dask.delayed(OTHERS["another order"].iloc[200:300])
    with pytest.raises(ValueError, match="differ in their columns"):
        DaskBudgetSVC(**OPTIONS).fit(blocks, y)


def test_labels_of_two_types_are_refused() -> None:
    parts = [y[:200], y[200:].astype(str)]
    blocks = [dask.delayed((X[i * 200 : i * 200 + 200], part)) for i, part in enumerate(parts)]
    with pytest.raises(ValueError, match="types of targets"):
        DaskBudgetSVC(**OPTIONS).fit(blocks)


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_lazy(method: str, n_classes: int) -> None:
    labels = y + (n_classes - 2) * (X[:, 2] > 0.2)
    rows = da.from_array(X, chunks=(100, 3))
    model = DaskBudgetSVC(**OPTIONS, loss="log_loss").fit(rows, labels)
    found, expected = getattr(model, method)(rows), getattr(model.to_local(), method)(X)
    assert isinstance(found, da.Array)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.compute(), expected)
    blocks = getattr(model, method)(blocks_of(FRAME))
    np.testing.assert_allclose(np.concatenate(dask.compute(*blocks)), expected)


def test_the_hinge_has_no_probabilities() -> None:
    assert not hasattr(fitted(), "predict_proba")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [DaskBudgetSVC, DaskBudgetSVR, DaskBudgetOneClassSVM])
@pytest.mark.parametrize("options", [{"time_limit": 1e-6}, {"time_limit": 1e-3}, {"gamma": 1e12}])
def test_no_time_and_odd_kernels_end_with_a_model(kind: Any, options: dict[str, float]) -> None:
    rows = da.from_array(X, chunks=(100, 3))
    own = {name: value for name, value in OPTIONS.items() if name != "C" or kind is DaskBudgetSVC}
    model = kind(**{**own, **options})
    model = model.fit(rows) if kind is DaskBudgetOneClassSVM else model.fit(rows, y)
    assert np.isfinite(model.predict(rows).compute()).all()


def test_odd_arguments_are_told() -> None:
    rows = da.from_array(X, chunks=(100, 3))
    with pytest.raises(ValueError, match="complex"):
        DaskBudgetSVC(**OPTIONS).fit(rows + 1j, y)
    with pytest.raises(TypeError, match=r"distributed\.Client, not a str"):
        DaskBudgetSVC(**OPTIONS).fit(rows, y, client="x")
    one = DaskBudgetSVC(**OPTIONS).fit(rows, y, 2.0)
    two = DaskBudgetSVC(**OPTIONS).fit(rows, y, np.full(400, 2.0))
    assert one.objective_ == two.objective_
    assert BudgetSVC(**OPTIONS).fit(X, y, 2.0).objective_[0] > 0


@pytest.mark.parametrize("bad", [{"zero_based": "x"}, {"n_features": 2.5}, {"n_features": 0}])
def test_odd_arguments_of_the_reader_are_told(tmp_path: Any, bad: dict[str, Any]) -> None:
    path = tmp_path / "rows.libsvm"
    path.write_text("+1 1:2\n")
    with pytest.raises((TypeError, ValueError), match=next(iter(bad))):
        read_libsvm(path, **bad)
