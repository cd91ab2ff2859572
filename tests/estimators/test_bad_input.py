"""Bad input gets a message that names the value and the way out, before any work is lost."""

import numpy as np
import pytest
from scipy import sparse

from budgetsvm import BudgetSVC
from budgetsvm.kernels import Gaussian, Polynomial
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a finite number > 0, not 0"),
        ({"C": -1.5}, "C must be .* not -1.5"),
        ({"C": np.nan}, "C must be .* not nan"),
        ({"C": np.inf}, "C must be .* not inf"),
        ({"C": "1"}, "C must be a number, not '1'"),
        ({"C": True}, "C must be a number, not True"),
        ({"gamma": 0}, "gamma must be a finite number > 0, not 0"),
        ({"gamma": -2}, "gamma must be .* not -2"),
        ({"gamma": np.inf}, "gamma must be .* not inf"),
        ({"gamma": "large"}, "gamma must be .* not 'large'"),
        ({"kernel": Gaussian(gamma=-1)}, "gamma must be .* not -1"),
        ({"kernel": "gauss"}, "kernel must be one of 'rbf'.* not 'gauss'"),
        ({"kernel": 3}, "kernel must be .* not 3"),
        ({"kernel": "poly", "degree": 0, "maintenance": "remove"}, "degree must be at least 1"),
        ({"kernel": "poly", "coef0": np.nan, "maintenance": "remove"}, "coef0 must be"),
        ({"kernel": Polynomial(degree=1.5), "maintenance": "remove"}, "degree must be an integer"),
        ({"budget": 0}, "budget must be at least 1, not 0"),
        ({"budget": -5}, "budget must be at least 1, not -5"),
        ({"budget": 2.5}, "budget must be an integer, not 2.5"),
        ({"epochs": 0}, "epochs must be a finite number > 0, not 0"),
        ({"epochs": "many"}, "epochs must be a number, not 'many'"),
        ({"solver": "sgd"}, "solver must be one of 'bsca', 'bsgd', not 'sgd'"),
        ({"solver": 1}, "solver must be .* not 1"),
        ({"solver": BSCA(order="sorted")}, "order must be one of 'permutation', 'uniform'"),
        ({"maintenance": "forget"}, "maintenance must be one of 'merge'.* not 'forget'"),
        ({"maintenance": None}, "maintenance must be .* not None"),
        ({"maintenance": Merge(n_terms=1)}, "Merge.n_terms must be at least 2, not 1"),
        ({"maintenance": Merge(search="newton")}, "Merge.search must be one of"),
        ({"maintenance": Merge(partners="none")}, "Merge.partners must be one of"),
        ({"precision": "half"}, "precision must be one of 'auto', 'single', 'double', not 'half'"),
        ({"n_jobs": 0}, "n_jobs must be .* not 0"),
        ({"n_jobs": 1.5}, "n_jobs must be an integer, not 1.5"),
        ({"class_weight": {0: -1.0, 1: 1.0}}, "class weights must be positive"),
        ({"class_weight": "even"}, "class_weight"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BudgetSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("kernel", ["laplacian", "poly", "sigmoid", "linear", lambda A, B: A @ B.T])
def test_a_kernel_without_merging(kernel):
    with pytest.raises(ValueError, match=r"merging needs the Gaussian kernel.*'project'.*'remove'"):
        BudgetSVC(kernel=kernel).fit(X, y)
    BudgetSVC(kernel=kernel, maintenance="remove", epochs=1, budget=10).fit(X, y)
    BudgetSVC(kernel=kernel, budget=None, epochs=1).fit(X, y)  # nothing to merge


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.array, sparse.csr_array, sparse.csr_matrix])
def test_not_finite(value, convert):
    broken = X.copy()
    broken[7, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        BudgetSVC().fit(convert(broken), y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        BudgetSVC(epochs=1).fit(X, y).predict(convert(broken))


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (X, y[:-1], "inconsistent numbers of samples"),
        (X[0], y[:1], "Expected 2D array"),
        (X, np.column_stack([y, y]), "1d array"),
        (X[:, :0], y, "0 feature"),
        (X[:0], y[:0], "0 sample"),
        (X[:1], y[:1], "only one class"),
        (X, np.zeros(60), "only one class, .*0.0"),
        (X, np.array(["a"] * 60), "only one class, .*'a'"),
        (X, RNG.normal(size=60), "Unknown label type"),
        (X, np.where(y, 1.0, np.nan), "NaN"),
        (np.full((60, 3), "red"), y, "could not convert|Unable to convert"),
        (X * 1e200, y, "too large"),
        (X + 1j, y, "[Cc]omplex"),
    ],
)
def test_data(data, labels, message):
    with pytest.raises(ValueError, match=message):
        BudgetSVC().fit(data, labels)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(60), "[Nn]egative"),
        (np.zeros(60), "zero"),
        (np.where(y, 0.0, 1.0), "all rows of class .*1.* have weight zero"),
        (np.ones(59), "shape"),
        (np.full(60, np.nan), "NaN"),
    ],
)
def test_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        BudgetSVC().fit(X, y, sample_weight=weights)


def test_prediction():
    with pytest.raises(ValueError, match="not fitted"):
        BudgetSVC().predict(X)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = BudgetSVC().support_vectors_
    model = BudgetSVC(epochs=1).fit(X, y)
    with pytest.raises(ValueError, match=r"2 features.*3 features"):
        model.predict(X[:, :2])


def test_partial_fit():
    with pytest.raises(ValueError, match="only one class"):
        BudgetSVC().partial_fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match="'balanced' needs all labels"):
        BudgetSVC(class_weight="balanced").partial_fit(X, y)
    model = BudgetSVC().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"labels \[2\]"):
        model.partial_fit(X, np.where(y, 2, 0))
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, y, classes=[0, 2])


@pytest.mark.parametrize("function", [lambda A, _: A.sum(axis=1), lambda A, B: A @ B.T * np.nan])
def test_a_bad_kernel_function(function):
    with pytest.raises(ValueError, match="the kernel function returned"):
        BudgetSVC(kernel=function, maintenance="remove").fit(X, y)


# What is unusual but not wrong must work, and give a finite model.


def assert_sane(model, data, budget):
    values = model.decision_function(data)
    assert np.isfinite(values).all()
    assert len(model.support_vectors_) <= budget
    assert np.isfinite(model.support_vectors_).all()


@pytest.mark.parametrize("polish", [True, False], ids=["polished", "plain"])
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("maintenance", ["merge", "multimerge", "project", "remove"])
class TestUnusual:
    def fit(self, data, labels, solver, maintenance, polish, **parameters):
        parameters = {"budget": 8, "epochs": 3, "random_state": 0} | parameters
        model = BudgetSVC(solver=solver, maintenance=maintenance, polish=polish, **parameters).fit(
            data, labels
        )
        assert_sane(model, data, parameters["budget"])
        return model

    def test_budget_of_one(self, solver, maintenance, polish):
        self.fit(X, y, solver, maintenance, polish, budget=1)

    def test_budget_larger_than_n(self, solver, maintenance, polish):
        model = self.fit(X, y, solver, maintenance, polish, budget=1000, epochs=50)
        assert model.score(X, y) > 0.9

    def test_two_rows(self, solver, maintenance, polish):
        model = self.fit(X[:2], np.array([0, 1]), solver, maintenance, polish, budget=8)
        assert model.predict(X[:2]).tolist() == [0, 1]

    def test_duplicates_of_one_point(self, solver, maintenance, polish):
        data = np.concatenate([np.repeat(X[:1], 50, axis=0), X[:20]])
        self.fit(data, np.arange(70) % 2, solver, maintenance, polish)

    def test_all_rows_equal(self, solver, maintenance, polish):
        self.fit(np.ones((60, 3)), y, solver, maintenance, polish)

    def test_all_zero(self, solver, maintenance, polish):
        self.fit(np.zeros((60, 3)), y, solver, maintenance, polish)

    def test_constant_features(self, solver, maintenance, polish):
        self.fit(np.column_stack([X, np.full(60, 1e6)]), y, solver, maintenance, polish)

    @pytest.mark.parametrize("gamma", [1e-300, 1e-12, 1e12, 1e300])
    def test_huge_and_tiny_gamma(self, solver, maintenance, polish, gamma):
        self.fit(X, y, solver, maintenance, polish, gamma=gamma)

    @pytest.mark.filterwarnings("ignore:the duality gap:sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("C", [1e-300, 1e-12, 1e12])
    def test_extreme_C(self, solver, maintenance, polish, C):
        self.fit(X, y, solver, maintenance, polish, C=C)

    def test_huge_values(self, solver, maintenance, polish):
        self.fit(X * 1e100, y, solver, maintenance, polish)
        self.fit(X * 1e-100, y, solver, maintenance, polish)

    def test_empty_sparse_rows(self, solver, maintenance, polish):
        data = sparse.random_array((60, 200), density=0.003, format="csr", rng=0)
        self.fit(data, y, solver, maintenance, polish)
