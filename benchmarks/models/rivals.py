"""The peers: what else a user could train, each with its defaults and the same C and gamma."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from benchmarks.models.ours import svc_accuracy
from benchmarks.problems.data_sets import Problem
from budgetsvm import BudgetSVC

_FEATURES = 500


@dataclass(frozen=True)
class Setting:
    """What a peer is told."""

    problem: Problem
    threads: int
    seed: int

    @property
    def kernel(self) -> dict[str, Any]:
        """C and gamma, as all kernel machines name them."""
        return {"C": self.problem.C, "gamma": self.problem.gamma}


@dataclass(frozen=True)
class Peer:
    """How to make an unfitted model, and what to ask of a fitted one."""

    make: Callable[[Setting], Any]
    terms: Callable[[Any], int]
    score: Callable[[Any, Problem], float] = lambda model, problem: float(
        model.score(problem.X_test, problem.y_test)
    )


def _budget(budget: int) -> Callable[[Setting], Any]:
    return lambda s: BudgetSVC(**s.kernel, budget=budget, random_state=s.seed, n_jobs=s.threads)


def _svc(setting: Setting) -> Any:
    return SVC(**setting.kernel, cache_size=1000)


def _linear(setting: Setting) -> Any:
    return LinearSVC(C=setting.problem.C, random_state=setting.seed)


def _sgd(setting: Setting) -> Any:
    """Return stochastic gradient descent for the objective of C."""
    weight = 1 / (setting.problem.C * len(setting.problem.y))
    return SGDClassifier(alpha=weight, random_state=setting.seed, n_jobs=setting.threads)


def _after(
    features: type[Nystroem] | type[RBFSampler], linear: Callable[[Setting], Any]
) -> Callable[[Setting], Any]:
    return lambda s: make_pipeline(
        features(gamma=s.problem.gamma, n_components=_FEATURES, random_state=s.seed), linear(s)
    )


def _intelex(setting: Setting) -> Any:
    from sklearnex.svm import SVC as IntelexSVC

    return IntelexSVC(**setting.kernel, cache_size=1000, n_jobs=setting.threads)


def _xgboost(setting: Setting) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=setting.threads, random_state=setting.seed)


def _lightgbm(setting: Setting) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=setting.threads, random_state=setting.seed, verbosity=-1)


def _support_vectors(model: Any) -> int:
    return int(model.support_vectors_.shape[0])


OURS = "BudgetSVC, B=500"
EXACT, PART, NYSTROEM, TREES = "SVC", "SVC, equal time", "Nystroem + LinearSVC", "LightGBM"
# In the order in which they run.
PEERS = {
    OURS: Peer(_budget(500), _support_vectors),
    "BudgetSVC, B=200": Peer(_budget(200), _support_vectors),
    PART: Peer(_svc, _support_vectors, svc_accuracy),
    NYSTROEM: Peer(_after(Nystroem, _linear), lambda model: _FEATURES),  # noqa: ARG005
    "Nystroem + SGD": Peer(_after(Nystroem, _sgd), lambda model: _FEATURES),  # noqa: ARG005
    "RBFSampler + SGD": Peer(_after(RBFSampler, _sgd), lambda model: _FEATURES),  # noqa: ARG005
    "XGBoost": Peer(_xgboost, lambda model: int(model.get_booster().num_boosted_rounds())),
    TREES: Peer(_lightgbm, lambda model: int(model.booster_.num_trees())),
    "intelex SVC": Peer(_intelex, _support_vectors),
    EXACT: Peer(_svc, _support_vectors, svc_accuracy),
}
