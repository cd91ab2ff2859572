"""scikit-learn's own checks of estimators, for the configurations that differ in what they run."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.losses import Logistic

# scikit-learn declares the same expected failures for SVC, SVR, OneClassSVM, LinearSVC, SGDClassifier.
NOT_EQUIVALENT = "a stochastic solver sees repeated rows in another order than a row of weight two"


# The same goes for SGDClassifier, whose partial_fit raises with early_stopping, too.
NO_STREAM = "partial_fit has no use for early_stopping or a basis, and says so"


def expected_failures(estimator):
    kinds = ("dense", "sparse")
    weights = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds]
    streams = ["check_fit_score_takes_y", "check_n_features_in_after_fitting"]
    streams += ["check_estimators_partial_fit_n_features"]
    options = estimator.get_params(deep=False)
    if not options.get("early_stopping") and options["basis"] == "learned":
        streams = []
    elif isinstance(estimator, BudgetFeatures):
        streams.remove("check_estimators_partial_fit_n_features")  # is not for transformers
    return dict.fromkeys(weights, NOT_EQUIVALENT) | dict.fromkeys(streams, NO_STREAM)


@pytest.mark.sampled(3)
@parametrize_with_checks(
    [
        BudgetSVC(),
        BudgetSVC(budget=None),
        BudgetSVC(solver="bsgd", epochs=50),
        BudgetSVC(budget=10, maintenance="project"),
        BudgetSVC(kernel="laplacian", maintenance="remove", precision="double"),
        BudgetSVC(basis="random", budget=20),
        BudgetSVC(polish=False),
        BudgetSVC(polish=False, solver="bsgd", epochs=50),
        BudgetSVC(polish=False, budget=10, maintenance="project"),
        BudgetSVC(loss="logistic", fit_intercept=True),
        BudgetSVC(loss=Logistic(), polish=False),
        BudgetSVC(loss="squared_hinge", budget=None, fit_intercept=True),
        BudgetSVC(multi_class="ovr", fit_intercept=False),
        BudgetSVC(multi_class="ovo", polish=False, budget=20),
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
