"""What is unusual but not wrong works, and gives a finite model."""

import numpy as np
import pytest
from scipy import sparse

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = np.digitize(X[:, 0], [-0.5, 0.5])
NUMBERS = X[:, 0] + X[:, 1] ** 2

#: Estimators with targets that suit them.
ALL = [
    (BudgetSVC, {}, LABELS),
    (BudgetSVC, {"loss": "logistic", "fit_intercept": True}, LABELS),
    (BudgetSVC, {"multi_class": "weston-watkins"}, LABELS),
    (BudgetSVC, {"loss": "squared_hinge"}, LABELS > 0),
    (BudgetSVR, {}, NUMBERS),
    (BudgetSVR, {}, np.column_stack([NUMBERS, X])),
    (BudgetOneClassSVM, {}, None),
    (BudgetFeatures, {}, LABELS),
    (BudgetFeatures, {}, NUMBERS),
    (BudgetFeatures, {}, None),
]
y = (X[:, 0] > 0).astype(int)

every = pytest.mark.parametrize(("estimator", "options", "y"), ALL)

# ---- by every estimator ----


def check(estimator, options, data, y, **more):
    """Fit with and without a polish, or just fit; results must be finite."""
    options = {"random_state": 0, "epochs": 3, "budget": 8, **options, **more}
    for polish in (True, False) if estimator is not BudgetFeatures else (None,):
        both = options if polish is None else {**options, "polish": polish}
        model = estimator(**both).fit(data, y)
        use = "transform" if estimator is BudgetFeatures else "predict"
        result = getattr(model, use)(data)
        assert len(result) == data.shape[0]
        assert np.isfinite(result).all()
        if hasattr(model, "decision_function"):
            assert np.isfinite(model.decision_function(data)).all()
        if options["budget"] is not None and estimator is not BudgetFeatures:
            assert len(model.support_vectors_) <= options["budget"]


@pytest.mark.filterwarnings("ignore:the duality gap:sklearn.exceptions.ConvergenceWarning")
@every
class TestEveryEstimator:
    def test_budgets(self, estimator, options, y):
        for budget in (1, 2, 60, 1000, None):
            check(estimator, options, X, y, budget=budget)

    def test_few_rows(self, estimator, options, y):
        n = 4
        few = None if y is None else np.concatenate([y[:n], y[:n]])
        if few is not None and few.dtype != float:
            few = np.arange(2 * n) % 2
        check(estimator, options, np.concatenate([X[:n], X[:n]]), few)
        if few is None or few.dtype == float:
            check(estimator, options, X[:1], None if y is None else y[:1])

    def test_all_rows_equal(self, estimator, options, y):
        for value in (0.0, 1.0, 1e6):
            check(estimator, options, np.full((60, 3), value), y)

    def test_constant_features(self, estimator, options, y):
        check(estimator, options, np.column_stack([X, np.full(60, 1e6)]), y)

    @pytest.mark.parametrize("gamma", [1e-300, 1e-12, 1e12, 1e300])
    @pytest.mark.filterwarnings("ignore:no C was found:sklearn.exceptions.ConvergenceWarning")
    def test_huge_and_tiny_gamma(self, estimator, options, y, gamma):
        check(estimator, options, X, y, gamma=gamma)

    @pytest.mark.parametrize("C", [1e-300, 1e-12, 1e12])
    def test_extreme_C(self, estimator, options, y, C):
        if estimator is BudgetOneClassSVM:
            check(estimator, options, X, y, nu=min(max(C, 1e-12), 1 - 1e-12))
        else:
            few = {} if estimator is BudgetFeatures else {"max_passes": 3}
            check(estimator, {**options, **few}, X, y, C=C)

    def test_huge_and_tiny_values(self, estimator, options, y):
        check(estimator, options, X * 1e100, y)
        check(estimator, options, X * 1e-100, y)

    def test_kinds_of_rows(self, estimator, options, y):
        pandas = pytest.importorskip("pandas")
        for data in (
            X.astype(np.float32),
            (10 * X).astype(int),
            np.asfortranarray(X),
            sparse.csr_array(X),
            sparse.csc_matrix(X),
            sparse.csr_array((60, 3)),
            pandas.DataFrame(X, columns=["a", "b", "c"]),
        ):
            check(estimator, options, data, y)


# ---- by every solver, with every maintenance ----


def assert_sane(model, data, budget):
    values = model.decision_function(data)
    assert np.isfinite(values).all()
    assert len(model.support_vectors_) <= budget
    assert np.isfinite(model.support_vectors_).all()


@pytest.mark.parametrize("polish", [True, False], ids=["polished", "plain"])
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("maintenance", ["merge", "multimerge", "project", "remove"])
class TestEverySolver:
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
    @pytest.mark.filterwarnings("ignore:the duality gap:sklearn.exceptions.ConvergenceWarning")
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
