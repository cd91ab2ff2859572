"""The tasks beyond two classes: many classes, regression, one class, and streams; wide data; against exact SVMs.

They have data sets of their own, in `problems.task_sets`.
"""

from collections.abc import Iterator
from functools import partial

from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec, data_folder
from benchmarks.problems.task_sets import problems as load_problems
from benchmarks.report.record import Record
from benchmarks.tasks import many_classes, one_class, regression, stream, wide


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set of two classes is measured: none is."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Measure one task after the other."""
    of_task = partial(load_problems, record, data_folder(), names=options.data)
    many_classes.run(record, of_task(task="classes"), options)
    regression.run(record, of_task(task="regression"), options)
    one_class.run(record, of_task(task="one class"), options)
    if options.data is None:
        stream.run(record, options)
        wide.run(record, options)
