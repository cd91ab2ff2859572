"""What has travelled goes on by other ways: models of LIBSVM and smaller ones, pickled and in files of skops."""

import io
import pickle
from pathlib import Path
from typing import Any

import joblib
import pytest
import skops.io
from numpy.testing import assert_array_equal
from tools.peers import libsvm

import budgetsvm

X, Y = libsvm.two_classes()


@pytest.fixture(params=["of LIBSVM", "regression", "detector", "smaller"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    kind = {"regression": "-s 3", "detector": "-s 2"}.get(request.param, "-s 0")
    path = libsvm.train(tmp_path / "a", X, Y, f"{kind} -g 1")
    found = budgetsvm.load(path, n_features=X.shape[1])
    return budgetsvm.compress(found, 20).estimator if request.param == "smaller" else found


def by_joblib(model: Any) -> Any:
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(model: Any) -> Any:
    data = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("budgetsvm.") for name in unknown)
    return skops.io.loads(data, trusted=unknown)


def by_native(model: Any) -> Any:
    file = Path("model.bsvm")
    model.save(file)
    return budgetsvm.load(file)


@pytest.mark.parametrize(
    "way", [lambda m: pickle.loads(pickle.dumps(m)), by_joblib, by_skops, by_native]
)
def test_round_trips(model: Any, way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_array_equal(way(model).predict(X), model.predict(X))
