"""The data sets of the other tasks: many classes, regression, one class; and their hyper-parameters.

Those of the catalogue, which are good for the exact SVM: ``python -m benchmarks.tasks.search`` finds them again. What one
class needs is only here. All models of a data set use the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.problems.data_sets import Problem, Spec, load, missing_files
from benchmarks.report.record import Record, status


@dataclass(frozen=True)
class TaskSpec(Spec):
    """A data set of another task than two classes."""

    task: Literal["classes", "regression", "one class"] = "classes"
    nu: float = 0.1  #: one class: the share of training rows to call outliers
    inliers: float = 0.0  #: one class: the label of the rows to train with

    @property
    def epsilon(self) -> float:
        """Regression: of the loss, for a target of standard deviation 1."""
        return self.entry.epsilon or 0.0


TASK_SPECS = (
    TaskSpec.of("pendigits"),
    TaskSpec.of("satimage"),
    TaskSpec.of("usps-esl", "USPS"),
    TaskSpec.of("letter"),
    TaskSpec.of("fashion-mnist-10k", "FASHION"),
    TaskSpec.of("cadata", task="regression"),
    TaskSpec.of("cpusmall", task="regression"),
    TaskSpec.of("abalone", task="regression"),
    TaskSpec.of(
        "cod-rna", "COD-RNA-STD", scaling="standard", task="one class", gamma=1.0, inliers=-1
    ),
    TaskSpec.of("ijcnn", task="one class", gamma=2.0**3, inliers=-1),
    TaskSpec.of("mushrooms", task="one class", gamma=2.0**-3, inliers=2),
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
