"""What all estimators say to bad input, and that they take what is unusual but not wrong."""

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
NOT_A_NUMBER, INFINITE = X.copy(), X.copy()
NOT_A_NUMBER[3, 1], INFINITE[3, 1] = np.nan, np.inf

every = pytest.mark.parametrize(("estimator", "options", "y"), ALL)


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        (BudgetSVC, {"loss": "log"}, "loss must be one of 'hinge'.* not 'log'"),
        (BudgetSVC, {"loss": 3}, "loss must be .* not 3"),
        (BudgetSVC, {"multi_class": "crammer"}, "multi_class must be one of .* not 'crammer'"),
        (
            BudgetSVC,
            {"multi_class": "weston-watkins", "loss": "logistic"},
            "'weston-watkins' needs loss='hinge', not 'logistic'",
        ),
        (BudgetSVR, {"epsilon": -0.1}, "epsilon must be .* not -0.1"),
        (BudgetSVR, {"epsilon": np.nan}, "epsilon must be .* not nan"),
        (BudgetSVR, {"epsilon": "0"}, "epsilon must be a number, not '0'"),
        (BudgetSVR, {"C": 0}, "C must be .* not 0"),
        (BudgetSVR, {"C": np.nan}, "C must be .* not nan"),
        (BudgetOneClassSVM, {"nu": 0}, "nu must be between 0 and 1, not 0"),
        (BudgetOneClassSVM, {"nu": 1}, "nu must be between 0 and 1, not 1"),
        (BudgetOneClassSVM, {"nu": -0.5}, "nu must be between 0 and 1, not -0.5"),
        (BudgetOneClassSVM, {"nu": np.nan}, "nu must be .* not nan"),
        (BudgetOneClassSVM, {"nu": "half"}, "nu must be a number, not 'half'"),
        *[
            (estimator, parameters, message)
            for estimator in (BudgetSVC, BudgetSVR, BudgetOneClassSVM)
            for parameters, message in [
                ({"budget": 0}, "budget must be at least 1, not 0"),
                ({"gamma": 0}, "gamma must be .* not 0"),
                ({"tol": 0}, "tol must be .* not 0"),
                ({"tol": np.nan}, "tol must be .* not nan"),
                ({"max_passes": 0}, "max_passes must be at least 1, not 0"),
                ({"reservoir": -1}, "reservoir must be at least 0, not -1"),
                ({"reservoir": 1.5}, "reservoir must be an integer, not 1.5"),
                ({"validation_fraction": 0}, "validation_fraction must be .* not 0"),
                ({"validation_fraction": 1}, "validation_fraction must be .* not 1"),
                ({"validation_fraction": np.nan}, "validation_fraction must be .* not nan"),
                ({"n_iter_no_change": 0}, "n_iter_no_change must be at least 1, not 0"),
                ({"time_limit": -1}, "time_limit must be .* not -1"),
                ({"memory_limit": 0}, "memory_limit must be .* not 0"),
                ({"epochs": -1}, "epochs must be .* not -1"),
                ({"kernel": "laplacian"}, "merging needs the Gaussian kernel"),
                ({"basis": "random", "polish": False}, "set polish=True and a budget, or basis"),
            ]
        ],
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_parameters(estimator, parameters, message, method):
    y = {BudgetSVC: LABELS, BudgetSVR: NUMBERS, BudgetOneClassSVM: None}[estimator]
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(estimator(**parameters), method)(X, y)


@every
def test_rows(estimator, options, y):
    for broken, message in [
        (X[0], "Expected 2D array"),
        (X[:, :0], "0 feature"),
        (NOT_A_NUMBER, "NaN"),
        (sparse.csr_array(INFINITE), r"infinity"),
        (np.full((60, 3), "red"), "could not convert|Unable to convert"),
        (X + 1j, "[Cc]omplex"),
        (X * 1e200, "too large"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator(**options).fit(broken, y)
    for other in (X[:0], X[:59]):
        if y is None and len(other):
            continue
        with pytest.raises(ValueError, match=r"0 sample|inconsistent numbers of samples"):
            estimator(**options).fit(other, y)


@every
def test_use_before_and_after_fitting(estimator, options, y):
    use = "transform" if estimator is BudgetFeatures else "predict"
    with pytest.raises(ValueError, match="not fitted"):
        getattr(estimator(**options), use)(X)
    fitted = estimator(**options).fit(X, y)
    with pytest.raises(ValueError, match=r"2 features.*3 features"):
        getattr(fitted, use)(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        getattr(fitted, use)(np.full((1, 3), np.nan))


@pytest.mark.parametrize("estimator", [BudgetSVR, BudgetSVC])
def test_targets(estimator):
    for y, message in [
        (None, "requires y"),
        (np.where(LABELS > 0, 1.0, np.nan), "NaN"),
        (np.where(LABELS > 0, 1.0, np.inf), "infinity"),
        (NUMBERS[:59], "inconsistent numbers of samples"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator().fit(X, y)
    with pytest.raises(ValueError, match=r"could not convert|Unable to convert"):
        BudgetSVR().fit(X, np.full(60, "high"))
    with pytest.raises(ValueError, match="Unknown label type"):
        BudgetSVC().fit(X, NUMBERS)
    with pytest.raises(ValueError, match="only one class, 'a'"):
        BudgetSVC().fit(X, np.full(60, "a"))


@pytest.mark.parametrize("weights", [-np.ones(60), np.zeros(60), np.ones(59), np.full(60, np.nan)])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("estimator", [BudgetSVR, BudgetSVC, BudgetOneClassSVM])
def test_weights(estimator, method, weights):
    y = {BudgetSVC: LABELS, BudgetSVR: NUMBERS, BudgetOneClassSVM: None}[estimator]
    with pytest.raises(ValueError, match=r"[Nn]egative|zero|shape|NaN"):
        getattr(estimator(), method)(X, y, sample_weight=weights)


# What is unusual but not wrong must work, and give a finite model.


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
class TestUnusual:
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
