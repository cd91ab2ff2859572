"""What the exact SVM reaches: the lines that curves are measured by."""

from experiments.exact.solution import exact_job
from experiments.problems import Spec
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope


def jobs(scope: Scope) -> list[Job]:
    """List the exact solutions."""
    return [exact_job(scope, spec) for spec in scope.specs]


def optimum(scope: Scope, results: Results, spec: Spec) -> float | None:
    """Return P = D of the exact SVM; None where it was solved on a part of the rows only."""
    return None if spec.exact_rows else float(_result(scope, results, spec)["primal"])


def accuracy(scope: Scope, results: Results, spec: Spec) -> float:
    """Return the test accuracy in %."""
    return float(_result(scope, results, spec)["accuracy"])


def exact_seconds(scope: Scope, results: Results, spec: Spec) -> float:
    """Return the seconds of SVC on all rows: the paper's where it was solved on a part of them only."""
    if spec.exact_rows:
        return spec.paper_seconds
    return float(_result(scope, results, spec)["svc_cpu_seconds"])


def remark(scope: Scope) -> str:
    """Say of which problems only a part of the rows was solved."""
    parts = [f"{spec.name}: of {spec.exact_rows:,} rows" for spec in scope.specs if spec.exact_rows]
    return f" Exact SVM, without a bias ({'; '.join(parts)})." if parts else ""


def rates(scope: Scope, results: Results, spec: Spec) -> tuple[float, float]:
    """Return p_SGD and p_SCA of lemma 2."""
    result = _result(scope, results, spec)
    return float(result["p_sgd"]), float(result["p_sca"])


def _result(scope: Scope, results: Results, spec: Spec) -> Result:
    return results[exact_job(scope, spec).name]
