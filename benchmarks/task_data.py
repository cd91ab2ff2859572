"""The data sets of the other tasks: many classes, regression, one class; and their hyper-parameters.

C, gamma and epsilon are those with which the exact SVM of scikit-learn predicts best in cross-validation,
on a grid of powers of two: ``python -m benchmarks.task_search`` finds them again. Only those of LETTER are
given. All models of a data set use the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from benchmarks.data import Problem, Spec, load, missing_files
from benchmarks.report import Record, status


@dataclass(frozen=True)
class TaskSpec(Spec):
    """A data set of another task than two classes."""

    task: Literal["classes", "regression", "one class"] = "classes"
    epsilon: float = 0.0  #: regression: of the loss, for a target of standard deviation 1
    nu: float = 0.0  #: one class: the share of training rows to call outliers
    inliers: float = 0.0  #: one class: the label of the rows to train with


def _regression(name: str, n_features: int, C: float, gamma: float, epsilon: float) -> TaskSpec:
    return TaskSpec(
        name,
        name.lower(),
        n_features,
        C,
        gamma,
        scaling="standard",
        task="regression",
        epsilon=epsilon,
    )


def _one_class(spec: Spec, gamma: float, inliers: float) -> TaskSpec:
    parameters = {**asdict(spec), "gamma": gamma, "inliers": inliers}
    return TaskSpec(**parameters, task="one class", nu=0.1)


TASK_SPECS = (
    TaskSpec("PENDIGITS", "pendigits", 16, 2.0, 2.0, "pendigits.t", "range"),
    TaskSpec("SATIMAGE", "satimage.scale", 36, 2.0**3, 2.0**-1, "satimage.scale.t"),
    TaskSpec("USPS", "usps.esl-train", 256, 2.0**3, 2.0**-7),
    TaskSpec("LETTER", "letter.scale", 16, 2.0**4, 2.0**2, "letter.scale.t"),
    TaskSpec("FASHION", "fashion-mnist.10k", 784, 2.0**3, 2.0**-7, "fashion-mnist.t", "bytes"),
    _regression("CADATA", 8, 2.0**3, 2.0**-3, 2.0**-2),
    _regression("CPUSMALL", 12, 2.0**5, 2.0**-7, 2.0**-3),
    _regression("ABALONE", 8, 2.0**3, 2.0**-3, 2.0**-2),
    _one_class(Spec("COD-RNA-STD", "cod-rna", 8, 1.0, 1.0, "cod-rna.t", "standard"), 1.0, -1),
    _one_class(Spec("IJCNN", "ijcnn1", 22, 1.0, 1.0, "ijcnn1.t"), 2.0**3, -1),
    _one_class(Spec("MUSHROOMS", "mushrooms", 112, 1.0, 1.0), 2.0**-3, 2),
)


def problems(
    record: Record, folder: Path, task: str, names: Sequence[str] | None
) -> Iterator[tuple[TaskSpec, Problem]]:
    """Load the data sets of one task, all or those named, one at a time; says which are missing."""
    for spec in TASK_SPECS:
        if spec.task != task or not (names is None or spec.name in names):
            continue
        if files := missing_files(folder, spec):
            record.missing.append(f"{spec.name} ({', '.join(files)})")
            print(f"MISSING: {record.missing[-1]}")
            continue
        status(f"loading {spec.name}")
        yield spec, load(folder, spec)
