"""Whether the parts of an estimator that comes from a snapshot go together."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from budgetsvm._common.checks import check_choice
from budgetsvm._estimators.fitting.training import CERTIFICATE
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._problem.pair_targets import count_pairs
from budgetsvm.kernels import Precomputed
from budgetsvm.losses import make_loss


def check_parameters(machine: Any) -> None:
    """Raise a ValueError if a parameter makes no sense: better now than when it is used."""
    try:
        if hasattr(machine, "task"):  # features: what would learn their terms has to complain
            check_choice("task", machine.task, ("auto", "classification", "regression", "density"))
            machine = BudgetSVC(machine.C, **machine._common())
        machine._untuned()._settings()
        if isinstance(machine, BudgetSVC):
            make_loss(machine.loss)
    except TypeError as error:
        raise ValueError(str(error)) from error


def check_state(machine: Any, where: str) -> None:
    """Raise a ValueError if attributes contradict each other. Each by itself is what it should be."""
    for problem, is_there in {**_COMMON, **_OF_KIND[type(machine).__name__]}.items():
        if is_there(machine):
            message = f"{where}: {problem}"
            raise ValueError(message)


def _outputs(machine: Any) -> int:
    return len(machine._expansion.coef)


def _outputs_of(n_classes: int, *, pairwise: bool) -> int:
    if n_classes == 2:
        return 0 if pairwise else 1  # pairs are of more classes
    return count_pairs(n_classes) if pairwise else n_classes


def _is_numbered(machine: Any) -> bool:
    return isinstance(machine._expansion.kernel, Precomputed)


def _numbers_fit(machine: Any) -> bool:
    numbers = getattr(machine, "_support", np.empty(0))[:, np.newaxis]
    same = np.array_equal(machine._expansion.points, numbers)
    return same and bool(numbers.max(initial=0) < machine.n_features_in_)


def _names_differ(machine: Any) -> bool:
    return len(getattr(machine, "feature_names_in_", ())) not in (0, machine.n_features_in_)


def _kernels_differ(machine: Any) -> bool:
    """Whether the model's kernel is not the one wanted, with numbers in the place of gamma="scale"."""
    kernel, wanted = machine._expansion.kernel, machine._kernel_wanted
    if type(kernel) is not type(wanted):
        return True
    if isinstance(getattr(wanted, "gamma", None), str):
        wanted = replace(wanted, gamma=kernel.gamma)
    return bool(kernel != wanted)


def _sample_is_strange(machine: Any) -> bool:
    sample = machine._reservoir
    if sample is None:
        return False
    return bool(sample.n_features != machine.n_features_in_ or sample.seen > machine._rows_seen)


def _codes_are_strange(machine: Any) -> bool:
    if machine._reservoir is None:
        return False
    codes = machine._reservoir.rows()[1]
    fits = codes.dtype == np.int32 and codes.ndim == 1
    return not (fits and codes.min() >= 0 and codes.max() < len(machine.classes_))


def _weights_fit(machine: Any) -> bool:
    weights = machine.class_weight_
    return bool(weights.shape == machine.classes_.shape and (weights > 0).all())


def _classes_do_not_add_up(machine: Any) -> bool:
    has = [hasattr(machine, name) for name in ("_support", "_n_support")]
    if not all(has):
        return any(has)
    counts = machine._n_support
    return not (counts.shape == machine.classes_.shape and counts.sum() == len(machine._support))


def _targets_are_strange(machine: Any) -> bool:
    if machine._reservoir is None:
        return False
    targets = machine._reservoir.rows()[1]
    return bool(targets.dtype != np.float64 or targets.shape[1:] != machine.target_mean_.shape)


def _certificate_is_torn(machine: Any) -> bool:
    return len({hasattr(machine, name) for name in CERTIFICATE}) > 1


_Problems = dict[str, Callable[[Any], bool]]

_COMMON: _Problems = {
    "the points of 'model' have not 'n_features_in' features": (
        lambda m: m._expansion.points.shape[1] != m.n_features_in_ and not _is_numbered(m)
    ),
    "the points of 'model' are not the numbers in 'support', or not below 'n_features_in'": (
        lambda m: _is_numbered(m) and not _numbers_fit(m)
    ),
    "there are not 'n_features_in' names in 'feature_names_in'": _names_differ,
}
_MACHINE: _Problems = {
    "the kernel of 'model' does not belong to 'kernel_wanted'": _kernels_differ,
    "'reservoir' has rows of another width than 'n_features_in', or more than 'rows_seen'": (
        _sample_is_strange
    ),
    "'support' has not as many numbers as 'model' has terms": (
        lambda m: len(getattr(m, "_support", m._expansion)) != len(m._expansion)
    ),
    "'duality_gap', 'objective', 'converged' and 'certifies' belong together": _certificate_is_torn,
}
_OF_KIND: dict[str, _Problems] = {
    "BudgetSVC": {
        **_MACHINE,
        "'model' has not as many outputs as 'classes' ask for": (
            lambda m: _outputs(m) != _outputs_of(len(m.classes_), pairwise=m._pairwise)
        ),
        "'tie_order' does not have each of 'classes' once": (
            lambda m: (
                m._tie_order is not None
                and sorted(m._tie_order.tolist()) != [*range(len(m.classes_))]
            )
        ),
        "'class_weights' are not positive, or not as many as 'classes'": (
            lambda m: hasattr(m, "class_weight_") and not _weights_fit(m)
        ),
        "'n_support' and 'support' belong together, and add up": _classes_do_not_add_up,
        "'reservoir' has codes that stand for none of 'classes'": _codes_are_strange,
    },
    "BudgetSVR": {
        **_MACHINE,
        "'model' has not as many outputs as 'target_scale'": (
            lambda m: _outputs(m) != len(m.target_mean_)
        ),
        "'flat' targets are one": lambda m: bool(m._flat) and _outputs(m) != 1,
        "'reservoir' has targets that are not those of 'target_scale'": _targets_are_strange,
    },
    "BudgetOneClassSVM": {
        **_MACHINE,
        "'model' must have a single output": lambda m: _outputs(m) != 1,
        "'level' must be positive": lambda m: not m._level > 0,
        "'trained_nu' must be between 0 and 1": lambda m: not 0 < m._trained_nu < 1,
        "'offset' must be a number if there is no 'reservoir'": (
            lambda m: m._offset is None and m._reservoir is None
        ),
    },
    "BudgetFeatures": {
        "'normalization' must be as wide as 'model' has points": (
            lambda m: m.normalization_.shape != 2 * (len(m._expansion),)
        ),
        "'normalization' must be triangular": lambda m: bool(np.tril(m.normalization_, -1).any()),
        "'model' must have a single output": lambda m: _outputs(m) != 1,
    },
}
