"""What budgets of thousands cost: against kernel values, exact machines, and smaller budgets.

With ``--full``, COVTYPE with B = 16,000, too.
"""

from collections.abc import Iterator

from benchmarks.large import machines, sixteen_thousand
from benchmarks.large.figures import Figures
from benchmarks.options import Options
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Record


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured if the command line names none."""
    return machines.takes(spec)


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:
    """Add all figures."""
    figures = Figures(record)
    if options.data is None:
        machines.of_made_and_other_data(figures)
    for problem in problems:
        if machines.takes(problem.spec):
            machines.of_problem(figures, problem, options)
    if options.full and options.data is None:
        sixteen_thousand.add(figures)
    else:
        print("\nSKIPPED: COVTYPE with B=16000, which takes an hour or so; --full measures it")
