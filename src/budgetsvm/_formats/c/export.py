"""Estimators as C: a function."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from budgetsvm._common.checks import best_instead, check_choice
from budgetsvm._common.public import public_in
from budgetsvm._estimators.compression.terms import Smaller
from budgetsvm._estimators.features import BudgetFeatures
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svc_prediction import HEAD_TO_HEAD
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._formats.c import functions
from budgetsvm._formats.c.rounding import largest_difference, single_values
from budgetsvm._formats.c.tables import (
    Storage,
    StoredPoints,
    in_single,
    joined,
    stored_points,
    string,
    table,
)
from budgetsvm._formats.scalers import Affine, affine_of
from budgetsvm._formats.sums import distance_between, sums_of
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Sigmoid

_KINDS = (BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@public_in("budgetsvm")
@dataclass(frozen=True)
class CHeader:
    """What :func:`to_c` returns.

    Attributes
    ----------
    text : str
        The header.
    n_bytes : int
        How much memory its tables take.
    distance : float
        ‖f - f'‖ / ‖f‖ in the Hilbert space of the kernel, f' being the function with the points as they are stored, and
        coefficients fitted to that: what fewer bits for the points lose, and nothing else. NaN for the sigmoid kernel.
    difference : float
        By how much values of the header and of the estimator differ, in standard deviations of the estimator's: the largest
        difference among some of the terms, taken for rows, and outputs. This includes kernel values in single precision, of
        which large coefficients, those of a large C, make more.
    """

    text: str
    n_bytes: int
    distance: float
    difference: float


@public_in("budgetsvm")
def to_c(estimator: Any, *, name: str = "model", storage: Storage = "float32") -> CHeader:
    """Return a fitted estimator as C: a header that needs nothing but ``expf`` or ``tanhf``, and no memory but its own.

    It is C99, and computes in single precision, sums in double. With the name ``model`` it has

    - ``model_values(x, values)``: decision values of a row of ``MODEL_FEATURES`` numbers; predictions of regression,
      features of BudgetFeatures; ``MODEL_OUTPUTS`` of them,
    - ``model_predict(x)``: the class of a row, as its place in ``model_labels``; of a detector, 1 or -1,
    - ``model_probabilities(x, shares)``: those of all classes, if trained with ``loss="logistic"`` (not of pairs).

    Parameters
    ----------
    estimator : estimator or Pipeline
        BudgetSVC, BudgetSVR, BudgetOneClassSVM or BudgetFeatures, with any kernel but a Python function; or a pipeline of
        a StandardScaler, RelevanceScaler, MinMaxScaler or MaxAbsScaler and such an estimator.
    name : str, default="model"
        What names in the header begin with.
    storage : {"float32", "float16", "int8"}, default="float32"
        The points of the terms. int8 has 255 steps between the least and the largest value of every feature.

    Returns
    -------
    header : CHeader
        With attributes text, n_bytes, distance and difference.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC, to_c
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = BudgetSVC(gamma=2, budget=20, random_state=0).fit(X, y)
    >>> header = to_c(model, storage="float16")
    >>> header.n_bytes, bool(header.distance < 0.01)
    (172, True)
    >>> print(header.text.splitlines()[0])
    /* BudgetSVC with 20 terms of 2 features, Gaussian(gamma=2); 172 bytes. Written by budgetsvm. */
    """
    check_choice("storage", storage, ("float32", "float16", "int8"))
    if not _NAME.fullmatch(name):
        message = f"name must be one that C allows, not {name!r}"
        raise ValueError(message)
    machine, scaler = _parts(estimator)
    exact = _as_sums(machine)
    model, stored, distance = _rounded(exact, storage)
    header = _Header(machine, model, stored, scaler)
    text = header.text().replace("@FEATURES", f"{name.upper()}_FEATURES")
    for word in ("OUTPUTS", "TERMS", "CLASSES", "H"):
        text = text.replace(f"@{word}", f"{name.upper()}_{word}")
    text = text.replace("@", f"{name}_")
    difference = largest_difference(exact, scaler, header.values)
    return CHeader(text, header.n_bytes, distance, difference)


def _rounded(
    model: KernelExpansion, storage: Storage
) -> tuple[KernelExpansion, StoredPoints, float]:
    """Return a model with points in fewer bits, and what that loses: coefficients make up for some of it."""
    stored = stored_points(model.points.astype(np.float64), storage)
    rounded = replace(model.in_precision(np.float64), points=stored.values)
    distance = distance_between(model, rounded)
    if storage == "float32" or isinstance(model.kernel, Sigmoid):
        return rounded, stored, distance
    smaller = Smaller(model, 1)
    kept, coef, _ = smaller.refitted(stored.values)
    refitted = replace(rounded, points=stored.values[kept], coef=coef)
    better = distance_between(model, refitted)
    if len(kept) == 0 or not better < distance:
        return rounded, stored, distance
    return refitted, stored.some(kept), better


def _parts(estimator: Any) -> tuple[Any, Affine | None]:
    """Return a machine, and what comes before it."""
    scaler = None
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
        if len(steps) > 2:
            message = f"a pipeline for C has a scaler and an estimator, not {len(steps)} steps"
            raise ValueError(message)
        estimator, scaler = steps[-1], affine_of(steps[0]) if len(steps) == 2 else None
    if type(estimator) not in _KINDS:
        message = f"a {type(estimator).__name__} cannot be written in C: only estimators of budgetsvm, and scalers before them{best_instead(estimator)}"
        raise ValueError(message)
    if not hasattr(estimator, "_expansion"):
        message = f"this {type(estimator).__name__} is not fitted yet: there is nothing to write"
        raise NotFittedError(message)
    functions.kernel_steps(estimator._expansion.kernel)  # which may complain
    return estimator, scaler


def _as_sums(machine: Any) -> KernelExpansion:
    """Return all that the header evaluates, with a term at least: C has no empty arrays."""
    model = sums_of(machine).with_dense_points("C")
    if isinstance(machine, BudgetFeatures):
        coef = np.ascontiguousarray(machine.normalization_.T)
        model = replace(model, coef=coef, bias=np.zeros(len(coef)))
    if len(model):
        return model
    nothing = np.zeros((1, model.points.shape[1]), model.points.dtype)
    return replace(model, points=nothing, coef=np.zeros((len(model.coef), 1)))


class _Header:
    """The parts of a header."""

    def __init__(
        self, machine: Any, model: KernelExpansion, stored: StoredPoints, scaler: Affine | None
    ) -> None:
        self._machine, self._model, self._stored = machine, model, stored
        self._coef = in_single(model.coef.T, "the coefficients")
        self._bias = in_single(model.bias, "the biases")
        self._before, self._row = self._rows(scaler)
        arrays = [self._coef, self._bias, *self._before.values()]
        self.n_bytes = stored.n_bytes + sum(one.nbytes for one in arrays)

    def values(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what it finds for rows."""
        points = self._stored.values.astype(np.float32)
        tables = {"coef": self._coef, "bias": self._bias, **self._before}
        return single_values(self._model.kernel, points, tables, rows)

    def text(self) -> str:
        """Return all of it."""
        model, machine = self._model, self._machine
        size, n_features = model.points.shape
        sizes = {"FEATURES": n_features, "TERMS": size, "OUTPUTS": len(model.coef)}
        if isinstance(machine, BudgetSVC):
            sizes["CLASSES"] = len(machine.classes_)
        about = (
            f"/* {type(machine).__name__} with {size} terms of {n_features} features, {model.kernel!r}; "
            f"{self.n_bytes} bytes. Written by budgetsvm. */"
        )
        guard = "#ifndef @H\n#define @H"
        defines = "\n".join(f"#define @{name} {value}" for name, value in sizes.items())
        tables = [*self._stored.tables(), table("float", "coef", self._coef)]
        tables += [table("float", "bias", self._bias)]
        tables += [table("float", each, values) for each, values in self._before.items()]
        what = {BudgetSVR: "Predictions", BudgetFeatures: "Features"}.get(
            type(machine), "Decision values"
        )
        values = functions.values(
            model.kernel, self._stored.decode, self._row, f"{what} of a row x, @OUTPUTS of them."
        )
        parts = [about, guard, "#include <math.h>", defines, *tables, functions.power(model.kernel)]
        return joined([*parts, values, *self._answers(), "#endif"])

    def _rows(self, scaler: Affine | None) -> tuple[dict[str, NDArray[np.float32]], str]:
        """Return tables, and what makes of the numbers of a row those that are compared with points."""
        centre = self._model.centre
        if scaler is None and centre is None:
            return {}, "        v[k] = x[k];"
        centre = np.zeros(self._model.points.shape[1]) if centre is None else centre
        if scaler is None:
            return {"centre": in_single(centre, "the data")}, "        v[k] = x[k] - @centre[k];"
        # factor x + shift - centre = factor (x - origin)
        origin = (centre - scaler.shift) / scaler.factor
        tables = {
            "origin": in_single(origin, "the data"),
            "factor": in_single(scaler.factor, "the scales"),
        }
        lines = ["        v[k] = (x[k] - @origin[k]) * @factor[k];"]
        if scaler.clip is not None:
            for edge, sign, which in zip(scaler.clip, "<>", ("least", "largest"), strict=True):
                tables[which] = in_single(edge - centre, "the data")
                lines.append(f"        if (v[k] {sign} @{which}[k]) v[k] = @{which}[k];")
        return tables, "\n".join(lines)

    def _answers(self) -> list[str]:
        """Return the functions that say more than values."""
        machine = self._machine
        if isinstance(machine, BudgetOneClassSVM):
            return [functions.DETECTOR]
        if not isinstance(machine, BudgetSVC):
            return []
        two, pairs = len(machine.classes_) == 2, machine._pairwise
        predict = functions.TWO_CLASSES if two else functions.CLASSES
        if pairs:
            predict = functions.PAIRS if machine.break_ties else _first_winner(machine)
            if machine.break_ties == HEAD_TO_HEAD:
                predict = functions.TIED_PAIRS
        shares = functions.TWO_SHARES if two else functions.SHARES
        return [
            _labels(machine.classes_),
            predict,
            shares if machine._has_shares and not pairs else "",
        ]


def _first_winner(machine: BudgetSVC) -> str:
    """Return what predicts as LIBSVM does, with the places of classes in its order."""
    order = machine._tie_order
    ranks = range(len(machine.classes_)) if order is None else np.argsort(order).tolist()
    table = f"static const int @ranks[{len(ranks)}] = {{ {', '.join(map(str, ranks))} }};"
    return f"{table}\n\n{functions.FIRST_PAIRS}"


def _labels(classes: NDArray[Any]) -> str:
    """Return the table of labels, which are integers, numbers or strings."""
    if classes.dtype.kind in "biu":
        kind, texts = "long long", [f"{int(label)}LL" for label in classes]
    elif classes.dtype.kind == "f":
        kind, texts = "double", [f"{float(label)!r}" for label in classes]
    else:
        kind, texts = "char *const", [string(str(label)) for label in classes]
    count = len(texts)
    return f"static const {kind} @labels[{count}] = {{ {', '.join(texts)} }};"
