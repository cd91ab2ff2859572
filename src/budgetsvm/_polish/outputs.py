"""Phase 2 for several outputs: coordinate ascent for each, on features that all of them share.

Newton's method would have to factorise a matrix for each output. The orthonormal features of all rows
take as long to compute as one such factorisation takes on many rows, and serve all outputs; with them at
hand, coordinate ascent on working sets is fast, and outputs are solved in parallel threads.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import numpy as np

from budgetsvm._common.threads import map_in_order
from budgetsvm._polish.ascent import WorkingSetAscent
from budgetsvm._polish.limits import OutOfTime
from budgetsvm._polish.matrix.kernel_values import FeatureMatrix
from budgetsvm._polish.newton.linear_system import HessianSolver
from budgetsvm._polish.newton.method import NewtonMethod
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._polish.turns import take_turns
from budgetsvm._problem.targets import Outputs

_Settled = TypeVar("_Settled")

_WIDTH = 4.0  # of Newton's method, to begin with
_SAMPLE = 4  # rows per dimension of the first working set, unless these are most of all


def solve_outputs(
    outputs: Outputs,
    matrix: FeatureMatrix,
    rng: np.random.Generator,
    finished: Callable[[int, SpanProblem], bool],
    *,
    tol: float,
    n_threads: int,
    settle: Callable[[SpanProblem], _Settled],
) -> list[_Settled]:
    """Solve all outputs, each until it is finished; `tol` is the gap that is wanted.

    Returns what `settle` makes of each: to keep a number for every row is too much for many outputs.
    """
    seeds = rng.integers(2**31, size=outputs.count)

    def solve(c: int) -> _Settled:
        span = SpanProblem(matrix, outputs.of_output(c))
        with suppress(OutOfTime):
            _solve(span, np.random.default_rng(int(seeds[c])), lambda: finished(c, span), tol)
        return settle(span)

    return map_in_order(solve, range(outputs.count), n_threads)


def _solve(
    span: SpanProblem, rng: np.random.Generator, finished: Callable[[], bool], tol: float
) -> None:
    nothing, n = np.zeros(len(span.targets)), span.matrix.n
    ascent = WorkingSetAscent(span, span.matrix, nothing.copy(), nothing, rng)
    sample = _SAMPLE * span.matrix.width
    if sample < 0.5 * n:
        ascent.round(np.sort(rng.choice(n, sample, replace=False)))
    solver = HessianSolver(span.matrix.basis)
    newton = NewtonMethod(span, solver, tol, span.w, span.f, _WIDTH)  # for where ascent is stuck
    take_turns(span, ascent, newton, finished)
