"""The tasks beyond two classes: many classes, regression, one class, and streams; against exact SVMs.

They have data sets of their own, in `task_data`.
"""

from collections.abc import Iterator
from functools import partial

from benchmarks import many_classes, one_class, regression, stream
from benchmarks.data import Problem, Spec, data_folder
from benchmarks.options import Options
from benchmarks.report import Record
from benchmarks.task_data import problems as load_problems


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
