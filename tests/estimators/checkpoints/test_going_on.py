"""A run that goes on ends in the model of one that was never broken off, wherever that was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from estimators.checkpoints.scenarios import (
    SCENARIOS,
    Breaking,
    Breaks,
    Scenario,
    bits,
    broken,
    rows,
    short_calls,
)
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC
from budgetsvm._estimators.checkpoints.file import CheckpointFile


class Aged(Breaking):
    """Writes that a run has taken long."""

    def write(self, contents: Any) -> None:
        super().write(replace(contents, seconds=2e3))


def leave(scenario: Scenario, path: Path, after: int = 1, **parameters: Any) -> None:
    """Leave a checkpoint."""
    with pytest.raises(Breaks):
        broken(scenario, path, after, **parameters)
    assert path.exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_model(name: str, tmp_path: Path) -> None:
    """Broken off after one checkpoint, then after two more, and so on."""
    scenario, path, runs = SCENARIOS[name], tmp_path / "it", 0
    with short_calls():
        expected = bits(scenario.train(scenario.model()))
        watched = scenario.train(scenario.model(), checkpoint=path, checkpoint_every=0)
        assert bits(watched) == expected
        assert not path.exists()
        while True:
            runs += 1
            model = scenario.model()
            try:
                scenario.train(model, checkpoint=Breaking(path, after=1 + runs % 3))
                break
            except Breaks:
                assert not hasattr(model, "_expansion")  # as of any call that fails
    assert runs >= 3
    assert bits(model) == expected
    assert list(tmp_path.iterdir()) == []


def test_the_scenarios_are_what_they_say() -> None:
    with short_calls():
        cautious = SCENARIOS["too small a budget"]
        model = cautious.train(cautious.model())
        assert model._visits < sum(record["visits"] for record in model.history_)  # began anew
        tried = SCENARIOS["full problem first"]
        model = tried.train(tried.model())
        assert model.certifies_ == "span"
        sparse = SCENARIOS["sparse terms"]
        assert sparse.train(sparse.model())._expansion.sparse_points


def test_a_generator_is_where_it_would_be(tmp_path: Path) -> None:
    for name in ("generator", "old generator, stream"):
        scenario, path = SCENARIOS[name], tmp_path / "it"
        leave(scenario, path, after=3)
        one, other = scenario.model(), scenario.model()
        scenario.train(one, checkpoint=path)
        scenario.train(other)
        assert one.random_state.random() == other.random_state.random()


@pytest.mark.parametrize("name", ["one class", "stream"])
def test_without_a_seed_one_is_drawn_and_kept(name: str, tmp_path: Path) -> None:
    scenario, path = SCENARIOS[name], tmp_path / "it"
    leave(scenario, path, random_state=None)
    content, found = path.read_bytes(), []
    for _ in range(2):
        path.write_bytes(content)
        model = scenario.model(random_state=None)
        scenario.train(model, checkpoint=path)
        assert model.random_state is None
        found.append(bits(model))
    assert found[0] == found[1]


def test_threads_and_progress_may_differ(tmp_path: Path, capfd: Any) -> None:
    scenario, path = SCENARIOS["two classes"], tmp_path / "it"
    leave(scenario, path, after=8)
    model = scenario.model(n_jobs=2, verbose=1)
    scenario.train(model, checkpoint=path)
    assert "100%" in capfd.readouterr().err
    np.testing.assert_array_equal(model.dual_coef_, scenario.train(scenario.model()).dual_coef_)


def test_the_time_before_counts(tmp_path: Path) -> None:
    """What a time limit has left is less by what the run took before."""
    scenario, path = SCENARIOS["bsgd"], tmp_path / "it"
    limits = {"time_limit": 1e3, "epochs": 4}
    with short_calls(), pytest.raises(Breaks):
        scenario.train(scenario.model(**limits), checkpoint=Aged(path, after=1))
    with short_calls():
        model = scenario.train(scenario.model(**limits), checkpoint=path)
    assert sum(record["visits"] for record in model.history_) < len(rows())


def test_nothing_to_learn_leaves_nothing(tmp_path: Path) -> None:
    """Without a phase 1 a run begins anew, which it does without a file."""
    X, y = rows(300), rows(300)[:, 0] > 0
    for parameters in ({"basis": "kmeans"}, {"basis": "random"}, {"budget": 300}):
        model = BudgetSVC(**{"budget": 20, "random_state": 0, **parameters})
        file = Breaking(tmp_path / "it", after=1)
        model.fit(X, y, checkpoint=file)
        assert list(tmp_path.iterdir()) == []


def gaussian(X: Any, Z: Any) -> Any:
    """Return kernel values."""
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2))


def test_kernels_of_ones_own(tmp_path: Path) -> None:
    """They go by their names in fit; a stream would have to keep code."""
    X, path = rows(200), tmp_path / "it"
    model = BudgetOneClassSVM(kernel=gaussian, budget=10, random_state=0, n_jobs=1)
    with short_calls():
        expected = clone(model).fit(X).dual_coef_
        with pytest.raises(Breaks):
            model.fit(X, checkpoint=Breaking(path, 2))
        other = clone(model).set_params(kernel=lambda X, Z: 2 * gaussian(X, Z))
        with pytest.raises(ValueError, match="kernel was <function gaussian>"):
            other.fit(X, checkpoint=path)
        np.testing.assert_array_equal(model.fit(X, checkpoint=path).dual_coef_, expected)
    with pytest.raises(ValueError, match=r"no checkpoint of this stream.*or leave out checkpoint"):
        model.fit_stream([X], checkpoint=path)


def test_in_a_pipeline(tmp_path: Path) -> None:
    X, y = rows(), rows()[:, 0] > 0
    model = make_pipeline(StandardScaler(), BudgetSVC(budget=20, random_state=0))
    path = tmp_path / "it"
    with pytest.raises(Breaks):
        model.fit(X, y, budgetsvc__checkpoint=Breaking(path, 1))
    assert path.exists()
    model.fit(X, y, budgetsvc__checkpoint=str(path))
    assert list(tmp_path.iterdir()) == []


def test_seldom_where_writing_takes_long(tmp_path: Path) -> None:
    """The time between two checkpoints is a multiple of what one takes."""
    file = CheckpointFile(tmp_path / "it", 1e-9)
    assert file.open() is None
    assert file.due()
    file.expect(1e3)
    assert not file.due()
    always = CheckpointFile(tmp_path / "it", 0)
    always.expect(1e3)
    assert always.due()


def test_what_knows_nothing_of_checkpoints_is_refused(tmp_path: Path) -> None:
    X = rows(100)
    for parameters in ({"warm_start": True}, {"monitor": object()}):
        with pytest.raises(ValueError, match="leave out checkpoint"):
            BudgetOneClassSVM(**parameters).fit(X, checkpoint=tmp_path / "it")
    for wrong, named in ((-1.0, "checkpoint_every"), (np.nan, "checkpoint_every")):
        with pytest.raises(ValueError, match=named):
            BudgetOneClassSVM().fit(X, checkpoint=tmp_path / "it", checkpoint_every=wrong)
    with pytest.raises(TypeError, match="path of a file"):
        BudgetOneClassSVM().fit(X, checkpoint=7)
    assert list(tmp_path.iterdir()) == []
