"""Many classes, regression and one-class machines by plain BSCA, beside exact solutions (sections 2 and 6)."""

import warnings
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, datasets
from budgetsvm.monitoring import Trace
from experiments.report import style, ticks
from experiments.report.content import Claim, Data, Picture, Section, Table
from experiments.report.wording import judge, mean_and_spread, seconds_text, signed, tally
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

_MANY_CLASSES = ("satimage", "pendigits", "letter")
_REGRESSION, _ONE_CLASS = ("abalone", "cpusmall", "cadata"), ("mushrooms", "satimage", "pendigits")
_MADE = "made"
_ROWS, _QUICK_ROWS = 4000, 400
_BUDGET, _QUICK_BUDGET = 500, 60
_EPOCHS, _QUICK_EPOCHS = [1, 2, 5, 10, 20, 40], [1, 4]
_C, _EPSILON, _NU = 10.0, 0.1, 0.1
_SHARE = 0.2  # of the rows of one class may be terms: otherwise there would be no budget
_NEAR = 0.02  # of the accuracy, of R² and of the area under the ROC curve
_MOST_SEEDS = 3


def _rows(name: str, folder: str | None, rows: int) -> tuple[Any, Any, Any, Any]:
    """Return training and test rows, standardised by the former, and targets."""
    if name == _MADE:
        X, y = make_friedman1(2 * rows, noise=1.0, random_state=0)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = datasets.load(name, folder=folder, form="dense")
        tests = [] if data.X_test is None else [(data.X_test, data.y_test)]
        parts = [(data.X, data.y), *tests]
        X, y = (np.concatenate([_dense(part[k]) for part in parts]) for k in (0, 1))
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: min(rows, len(y) // 2)], order[min(rows, len(y) // 2) :][:rows]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def classify(
    *, name: str, folder: str | None, rows: int, budget: int, epochs: list[int], seed: int
) -> Result:
    """Plain BSCA for many classes, one against the rest: test accuracies after several epochs, and of exact machines."""
    X, y, X_test, y_test = _rows(name, folder, rows)
    if name == _MADE:
        edges = np.quantile(y, (1 / 3, 2 / 3))
        y, y_test = (np.digitize(t, edges) for t in (y, y_test))
    gamma = 1 / X.shape[1]
    own = {"gamma": gamma, "random_state": seed, "n_jobs": 1, "multi_class": "ovr"}
    trace = Trace([len(y) * e for e in epochs], X_test=X_test, y_test=y_test, objectives=())
    plain = {"budget": budget, "epochs": epochs[-1], "polish": False, "fit_intercept": False}
    started = process_time()
    seen = BudgetSVC(_C, monitor=trace, **own, **plain).fit(X, y).monitor_
    seconds = process_time() - started
    exact = OneVsRestClassifier(SVC(C=_C, gamma=gamma)).fit(X, y)
    return {
        "epochs": epochs,
        "score": seen["score"].tolist(),
        "exact_score": float(exact.score(X_test, y_test)),
        "seconds": seconds,
        "rows": len(y),
        "budget": budget,
    }


def regress(
    *, name: str, folder: str | None, rows: int, budget: int, epochs: list[int], seed: int
) -> Result:
    """Plain BSCA for regression: R² and P after several epochs, and of the exact solution without a bias."""
    X, y, X_test, y_test = _rows(name, folder, rows)
    own = {"epsilon": _EPSILON, "gamma": 1 / X.shape[1], "random_state": seed, "n_jobs": 1}
    n = len(y)
    trace = Trace([n * e for e in epochs], X_test=X_test, y_test=y_test, objectives=("primal",))
    plain = {"budget": budget, "epochs": epochs[-1], "polish": False, "fit_intercept": False}
    started = process_time()
    seen = BudgetSVR(_C, monitor=trace, **own, **plain).fit(X, y).monitor_
    seconds = process_time() - started
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exact = BudgetSVR(_C, budget=n, fit_intercept=False, tol=1e-4, **own).fit(X, y)
    mean, scale = y.mean(), y.std()
    libsvm = SVR(C=_C, epsilon=_EPSILON, gamma=own["gamma"]).fit(X, (y - mean) / scale)
    return {
        "epochs": epochs,
        "score": seen["score"].tolist(),
        "primal": seen["primal"].tolist(),
        "exact_score": float(exact.score(X_test, y_test)),
        "exact_primal": float(exact.objective_[0]),
        "libsvm_score": float(libsvm.score(X_test, (y_test - mean) / scale)),
        "seconds": seconds,
        "rows": n,
        "budget": budget,
    }


def describe_class(
    *, name: str, folder: str | None, rows: int, budget: int, epochs: list[int], seed: int
) -> Result:
    """Plain BSCA for one class, the most frequent one: the area under the ROC curve against all others."""
    X, y, X_test, y_test = _rows(name, folder, rows)
    y, y_test = (np.round(t, 0) for t in (y, y_test))
    labels, counts = np.unique(y, return_counts=True)
    usual = np.median(y) if name == _MADE else labels[np.argmax(counts)]
    inside, known = (
        (y <= usual, y_test <= usual) if name == _MADE else (y == usual, y_test == usual)
    )
    own = {"nu": _NU, "gamma": 1 / X.shape[1]}
    budget = min(budget, round(_SHARE * inside.sum()))
    exact = OneClassSVM(**own).fit(X[inside]).decision_function(X_test)
    found: dict[str, Any] = {"score": [], "agreement": [], "outside": []}
    started = process_time()
    for length in epochs:
        model = BudgetOneClassSVM(
            budget=budget, epochs=length, polish=False, random_state=seed, n_jobs=1, **own
        ).fit(X[inside])
        values = model.decision_function(X_test)
        found["score"].append(float(roc_auc_score(known, values)))
        found["agreement"].append(float(spearmanr(values, exact)[0]))
        found["outside"].append(float(np.mean(model.predict(X[inside]) < 0)))
    return {
        "epochs": epochs,
        **found,
        "exact_score": float(roc_auc_score(known, exact)),
        "seconds": process_time() - started,
        "rows": int(inside.sum()),
        "budget": budget,
    }


def jobs(scope: Scope) -> list[Job]:
    """A job per data set and seed, for all three problems."""
    return [
        _job(scope, kind, name, seed)
        for kind, names in _names(scope).items()
        for name in names
        for seed in _seeds(scope)
    ]


def _names(scope: Scope) -> dict[str, Sequence[str]]:
    if scope.quick:
        return dict.fromkeys(_FUNCTIONS, (_MADE,))
    return {"classes": _MANY_CLASSES, "regression": _REGRESSION, "one-class": _ONE_CLASS}


_FUNCTIONS = {"classes": classify, "regression": regress, "one-class": describe_class}
_SCORES = {"classes": "accuracy", "regression": "R²", "one-class": "area under ROC"}


def _seeds(scope: Scope) -> range:
    return range(min(scope.seeds, _MOST_SEEDS))


def _job(scope: Scope, kind: str, name: str, seed: int) -> Job:
    arguments = {
        "name": name,
        "folder": scope.folder,
        "rows": _QUICK_ROWS if scope.quick else _ROWS,
        "budget": _QUICK_BUDGET if scope.quick else _BUDGET,
        "epochs": _QUICK_EPOCHS if scope.quick else _EPOCHS,
        "seed": seed,
    }
    return Job(f"other-duals/{kind}-{name}-{seed}", _FUNCTIONS[kind], arguments, 4.0)


def section(scope: Scope, results: Results) -> Section:
    """Draw all problems."""
    found = {
        (kind, name): [results[_job(scope, kind, name, seed).name] for seed in _seeds(scope)]
        for kind, names in _names(scope).items()
        for name in names
    }
    budget = _QUICK_BUDGET if scope.quick else _BUDGET
    text = (
        "*It is rather straightforward to extend our algorithm to other kernel machines with box-constrained dual problems.* The same steps for many classes, one against the rest, beside as many exact machines; and with other losses: ε-insensitive regression, whose exact solution is that "
        f"of the full problem by our own solver, with a certificate, without a bias as the paper's machines; and one-class machines, as a hinge loss with labels +1 whose C is found so that a share ν = {_NU:g} of the variables "
        "is used, beside LIBSVM's. Nothing is polished."
    )
    return Section(
        "Other box-constrained duals",
        [text],
        [_picture(found, budget), _table(found)],
        [_claim(found, budget)],
    )


_Found = dict[tuple[str, str], list[Result]]


def _picture(found: _Found, budget: int) -> Picture:
    def draw() -> Any:
        figure, panels = style.new_figure(len(found))
        for axes, ((kind, name), seeds) in zip(panels, found.items(), strict=True):
            scores = [seed["score"] for seed in seeds]
            style.draw_band(axes, seeds[0]["epochs"], scores, **style.look("bsca"))
            level = float(np.mean([seed["exact_score"] for seed in seeds]))
            axes.axhline(level, **style.look("exact", label="exact solution", marker=""))
            ticks.log(axes, "x")
            axes.set(title=f"{name}, {kind}", xlabel="epochs")
            axes.set_ylabel(_SCORES[kind])
        style.add_legend(figure)
        return figure

    rows = [
        (kind, name, seed, epoch, *(run[key][place] if key in run else None for key in _CURVES))
        for (kind, name), seeds in found.items()
        for seed, run in enumerate(seeds)
        for place, epoch in enumerate(run["epochs"])
    ]
    caption = f"Plain BSCA, B = {budget} (of one class: a fifth of its rows, if that is less), median and range of seeds, on test rows; the exact solution is dotted."
    title = "Many classes, regression and novelty detection by plain BSCA"
    columns = ("problem", "data", "seed", "epochs", *_CURVES)
    return Picture("other-duals", title, caption, draw, Data(columns, rows))


_CURVES = ("score", "primal", "agreement", "outside")


def _lost(seeds: Sequence[Result]) -> float:
    """What plain BSCA lacks at the end, mean over seeds."""
    return float(np.mean([run["exact_score"] - run["score"][-1] for run in seeds]))


def _table(found: _Found) -> Table:
    columns = ("problem", "data", "rows", "B", "exact", "BSCA, first", "BSCA, last", "P / P*")
    columns += ("agreement", "seconds")
    shown = [(*key, *_texts(seeds)) for key, seeds in found.items()]
    numbers = [
        (*key, seed, *(run.get(name) for name in _FIGURES), run["score"][-1])
        for key, seeds in found.items()
        for seed, run in enumerate(seeds)
    ]
    caption = (
        "Accuracy (many classes), R² (regression) and area under the ROC curve (one class) on test rows, mean ± standard deviation over seeds; after the fewest and the most epochs. P / P*: objective of BSCA by that of the exact solution. Agreement: rank "
        "correlation of decision values with LIBSVM's."
    )
    title = "Plain BSCA and exact solutions"
    data = Data(("problem", "data", "seed", *_FIGURES, "bsca_score"), numbers)
    return Table("other-duals-table", title, caption, Data(columns, shown), data)


_FIGURES = ("rows", "budget", "exact_score", "libsvm_score", "exact_primal", "seconds")


def _texts(seeds: Sequence[Result]) -> list[str]:
    """Write a line of the table."""
    exact = float(np.mean([run["exact_score"] for run in seeds]))
    first, last = ([run["score"][place] for run in seeds] for place in (0, -1))
    ratio = [run["primal"][-1] / run["exact_primal"] for run in seeds if "primal" in run]
    agrees = [run["agreement"][-1] for run in seeds if "agreement" in run]
    return [
        f"{seeds[0]['rows']:,}",
        str(seeds[0]["budget"]),
        f"{exact:.4f}",
        mean_and_spread(first, 4),
        mean_and_spread(last, 4),
        f"{np.median(ratio):.3f}" if ratio else "–",
        f"{np.median(agrees):.3f}" if agrees else "–",
        seconds_text(min(run["seconds"] for run in seeds)),
    ]


def _claim(found: _Found, budget: int) -> Claim:
    lost = {f"{name} ({kind})": _lost(seeds) for (kind, name), seeds in found.items()}
    near = {name: value <= _NEAR for name, value in lost.items()}
    listed = ", ".join(f"{name} {signed(value, 3)}" for name, value in lost.items())
    epochs = next(iter(found.values()))[0]["epochs"][-1]
    return Claim(
        "Other tasks like multi-class classification and regression can be tackled in the exact same framework, with minor changes; it is rather straightforward to extend the algorithm to other kernel machines with box-constrained dual problems.",
        "section 2; section 6",
        f"Near the exact solution {tally(near)}. Accuracy, R² and area under the ROC curve that plain BSCA lacks (B = {budget} at most, {epochs} epochs, merging by our defaults): {listed} (rule: {_NEAR:g} at most, everywhere)",
        judge([*near.values()]),
    )
