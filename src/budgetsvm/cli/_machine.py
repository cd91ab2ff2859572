"""The machine that options of the command line ask for."""

from typing import Any, Literal
from warnings import warn

import numpy as np

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._common.checks import check_number
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm.cli._options.svm import BALANCED

_MOST_CLASSES = 50  # that numbers are taken for without a word


def make_machine(options: dict[str, Any], X: Any, y: Any, *, verbose: int) -> Any:
    """Return an estimator, or a pipeline that scales features first, which is to be fitted to these rows."""
    kind, scaling = options["svm_type"], options["scale"]
    if options["probability"] == "1" and kind != "svc":
        raise ValueError("-b 1 is for classification, -s 0: other machines have no probabilities")
    own = {
        name: options[name]
        for name in ("kernel", "degree", "gamma", "coef0", "budget", "solver", "maintenance")
    }
    own |= {
        name: options[name] for name in ("polish", "tol", "precision", "time_limit", "memory_limit")
    }
    own |= {"n_jobs": options["jobs"], "random_state": options["seed"], "verbose": verbose}
    cost, epsilon = options["cost"], options["epsilon"]
    if kind == "svc":
        _check_labels(y)
        machine: Any = BudgetSVC(
            1.0 if cost is None else cost,
            loss=_loss(options),
            class_weight=_class_weight(options["class_weight"], y),
            fit_intercept=True,
            break_ties=False,  # as LIBSVM, which may be asked for predictions, too
            **own,
        )
    elif kind == "svr":
        # LIBSVM has C and epsilon in the units of the targets, and ours are relative to their scale.
        if epsilon is not None:
            check_number("epsilon", epsilon, at_least=0.0)
        scale = float(TargetScale.of(np.asarray(y, float)[:, np.newaxis], np.ones(len(y))).scale[0])
        machine = BudgetSVR(
            1.0 if cost is None else cost / scale,
            epsilon=0.1 if epsilon is None else epsilon / scale,
            **own,
        )
    else:
        machine = BudgetOneClassSVM(nu=options["nu"], **own)
    if scaling == "relevance":
        return _stretched(machine, kind, options, verbose=verbose)
    return machine if scaling == "none" else _pipeline(scaling, X, machine)


def _loss(options: dict[str, Any]) -> str:
    wanted: str | None = options["loss"]
    if options["probability"] == "1" and wanted not in (None, "logistic"):
        message = f"-b 1 needs the logistic loss: leave out --loss {wanted}"
        raise ValueError(message)
    return "logistic" if options["probability"] == "1" else wanted or "hinge"


def _check_labels(y: Any) -> None:
    """Say so where targets of a regression are about to be taken for labels."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "iuf":
        return
    fractions = labels[labels != np.floor(labels)]
    if len(fractions):
        message = f"labels are words or whole numbers, and not {fractions[0]:g}: say -s 3 if this is a regression"
        raise ValueError(message)
    count = len(np.unique(labels))
    if count > _MOST_CLASSES:
        message = (
            f"{count} different numbers are taken for classes: say -s 3 if this is a regression"
        )
        warn(message, UserWarning, stacklevel=3)


def _class_weight(
    given: tuple[tuple[Any, float], ...], y: Any
) -> dict[Any, float] | Literal["balanced"] | None:
    """Return weights by labels, which are strings where those of the data are."""
    if not given:
        return None
    if BALANCED in given:
        if len(given) > 1:
            raise ValueError("--class-weight: either balanced, or weights of labels")
        return "balanced"
    texts = np.asarray(y).dtype.kind not in "biuf"
    weights = {
        f"{label:g}" if texts and isinstance(label, float) else label: w for label, w in given
    }
    unknown = [label for label in weights if label not in set(np.unique(y).tolist())]
    if unknown:
        found = ", ".join(f"{one}" for one in np.unique(y).tolist()[:10])
        message = f"there is a weight for the label {unknown[0]}, and the data have {found}: it has no effect"
        warn(message, UserWarning, stacklevel=2)
    return {label: w for label, w in weights.items() if label not in unknown} or None


def _stretched(machine: Any, kind: str, options: dict[str, Any], *, verbose: int) -> Any:
    """Return a machine behind scales of features that are found, too."""
    from sklearn.pipeline import make_pipeline

    from budgetsvm import RelevanceScaler

    if kind not in ("svc", "svr"):
        raise ValueError(
            "--scale relevance needs labels or targets: use --scale standard with -s 2"
        )
    task: Any = "classification" if kind == "svc" else "regression"
    own = {"n_jobs": options["jobs"], "random_state": options["seed"], "verbose": verbose}
    return make_pipeline(RelevanceScaler(task=task, **own), machine)


def _pipeline(scaling: str, X: Any, machine: Any) -> Any:
    """Return what scales features first, without making sparse rows dense."""
    from sklearn.pipeline import make_pipeline  # slow to import, all of them
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    sparse = not isinstance(X, np.ndarray)
    if scaling == "standard":
        return make_pipeline(StandardScaler(with_mean=not sparse), machine)
    return make_pipeline(MaxAbsScaler() if sparse else MinMaxScaler((-1, 1)), machine)
