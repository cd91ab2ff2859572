"""scikit-learn's own checks of estimators, for the configurations that differ in what they run."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.losses import Logistic

# scikit-learn declares the same expected failures for SVC, SVR, OneClassSVM, LinearSVC, SGDClassifier.
NOT_EQUIVALENT = "a stochastic solver sees repeated rows in another order than a row of weight two"


def expected_failures(estimator):
    if isinstance(estimator, BudgetFeatures):
        return {}  # it takes no weights
    names = ["check_sample_weight_equivalence_on_dense_data"]
    names += ["check_sample_weight_equivalence_on_sparse_data"]
    return dict.fromkeys(names, NOT_EQUIVALENT)


@parametrize_with_checks(
    [
        BudgetSVC(loss="logistic", fit_intercept=True),
        BudgetSVC(loss=Logistic(), polish=False),
        BudgetSVC(loss="squared_hinge", budget=None, fit_intercept=True),
        BudgetSVC(multi_class="weston-watkins"),
        BudgetSVC(multi_class="weston-watkins", polish=False, budget=20),
        BudgetSVC(budget=20, fit_intercept=True, solver="bsgd", polish=False, epochs=50),
        BudgetSVC(budget=4, early_stopping=True, validation_fraction=0.5),
        BudgetSVR(),
        BudgetSVR(budget=15, fit_intercept=False, epsilon=0.0),
        BudgetSVR(polish=False, epochs=50),
        BudgetSVR(budget=None, solver="bsgd", epochs=50),
        BudgetOneClassSVM(),
        BudgetOneClassSVM(budget=8, maintenance="project"),
        BudgetOneClassSVM(polish=False),
        BudgetOneClassSVM(budget=None),
        BudgetFeatures(),
        BudgetFeatures(8, task="density"),
        BudgetFeatures(8, basis="kmeans", precision="double"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
