"""The compiled core: functions over NumPy arrays that the caller owns, results written in place.

Every function exists for float32 and float64; all floating-point arrays marked T must agree.

- *rows*: (matrix, chosen, centre). The matrix is a C-contiguous (n, d) array, or a tuple (values,
  indices int32, starts int64) of compressed sparse rows, of float32 or float64 whatever T is. chosen
  (int64) says which of its rows; None: all. centre (float64) is subtracted from dense rows.
- *terms*: (points, norms T, coef float64), see ``_model.term_store.TermStore``; *size* of them are in use. Points are
  panels T or, where they are sparse, a tuple (values T, indices int32, starts int64, counts int32, features), see
  ``_model.point_storage``. Sparse ones can be learned from sparse rows only, with no more entries than every slot has
  room for; without panels there is no pruning, nor a kernel that is a function.
- *kernel*: (name, gamma, coef0, degree, function), see ``kernels.Kernel.core``.
- *extents*: (low T, high T, of_zero T, weights T) around panels, see ``_model.pruning``.
- *panels*: (starts int64, numbers int32, values T) of rows that have some panels, of rising numbers, of all.
- *maintenance*: (name, golden, same_sign, n_terms), see ``maintenance.Maintenance.core``.
- *loss*: (name, epsilon), see ``losses.Loss.core``.
- *problem*: (loss, order, diagonal, y, targets, box, alpha, slots, bias). Row r of a block is training
  point order[r] and has k(x, x) = diagonal[r]; y, targets, box and alpha belong to all training points,
  but a single target does for all. slots is empty with a budget; without one it names the term of each
  training point, or -1. bias has the constant that is added to f, or is empty.
- *wanted*: (loss, coupled, labels, targets, box, alpha) of several outputs. Classes: labels of all
  training points, and one target; coupled is the problem of Weston & Watkins. Otherwise labels are
  empty, and targets are (points, outputs), as is alpha.
- *batch*: (points that are evaluated at once, threads that share them).

Every size, length and index is checked first: a wrong one is a ValueError, a wrong type a TypeError.
The solvers return (size, steps, violations, mistakes, merges, degradation, loss, lost) and release the GIL; lost is
the sum of the degradations, each as a share of β² of the step that led to it.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_V: TypeAlias = NDArray[np.float64]
_Float: TypeAlias = NDArray[np.float32] | _V
_Vectors: TypeAlias = tuple[_V, _V]
_Two: TypeAlias = tuple[float, float]
# Of two groups of rows, K in four blocks; targets, lower and upper bounds, epsilon.
_Blocks: TypeAlias = tuple[_Float, _Float, _Float, _Float]
_Bounds: TypeAlias = tuple[_V, _V, _V, float]
# Features, their squared norms, C of every row, and where the rows of a class begin; w, w(alpha), certificates, alpha.
_ClassRows: TypeAlias = tuple[_Float, _Float, _V, NDArray[np.int64]]
_Found: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
_Matrix: TypeAlias = _Float | tuple[_Float, NDArray[np.int32], NDArray[np.int64]]
_Rows: TypeAlias = tuple[_Matrix, NDArray[np.int64] | None, _V | None]
_Slots: TypeAlias = tuple[_Float, NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], int]
_Terms: TypeAlias = tuple[_Float | _Slots, _Float, _V]
_Kernel: TypeAlias = tuple[str, float, float, int, Callable[..., Any] | None]
_Extents: TypeAlias = tuple[_Float, _Float, _Float, _Float]
_Panels: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], _Float]
_Maintenance: TypeAlias = tuple[str, bool, bool, int]
_Loss: TypeAlias = tuple[str, float]
_Duals: TypeAlias = tuple[_V, _V, _V, _V]  # y, targets, box, alpha
_Problem: TypeAlias = tuple[_Loss, NDArray[np.int64], _V, *_Duals, NDArray[np.int32], _V]
_Wanted: TypeAlias = tuple[_Loss, bool, NDArray[np.int32], _V, _V, NDArray[np.float32]]
_Result: TypeAlias = tuple[int, int, int, int, int, float, float, float]

PANEL_BYTES: int

def bsca(
    rows: _Rows,
    problem: _Problem,
    terms: _Terms,
    size: int,
    budget: int,
    kernel: _Kernel,
    maintenance: _Maintenance,
    batch: tuple[int, int],
) -> _Result:
    """Visit the rows in order by budgeted stochastic coordinate ascent; budget 0 is no budget.

    With a budget, size must not exceed it, and there must be room for one term more.
    """

def bsgd(
    rows: _Rows,
    problem: _Problem,
    terms: _Terms,
    size: int,
    budget: int,
    kernel: _Kernel,
    maintenance: _Maintenance,
    batch: tuple[int, int],
    t: int,
    n_total: float,
) -> _Result:
    """Visit the rows in order by budgeted stochastic gradient descent, after t earlier visits.

    Coefficients and alpha are stored as t times their value.
    """

def joint(
    rows: _Rows,
    order: NDArray[np.int64],
    diagonal: _V,
    wanted: _Wanted,
    terms: _Terms,
    size: int,
    coef: _V,
    bias: _V,
    budget: int,
    kernel: _Kernel,
    maintenance: _Maintenance,
    t: int,
    n_total: float,
) -> _Result:
    """Both solvers for several outputs: n_total 0 is BSCA, otherwise BSGD after t earlier visits.

    Row j of coef, (capacity, outputs), has the coefficients of term j, and terms' coef its norm.
    """

def times(block: _Float, chosen: NDArray[np.int64], coef: _V, out: _V) -> None:
    """out_i = Σ_j block_ij coef_j for the chosen rows, summed in double."""

def add_transposed_times(block: _Float, chosen: NDArray[np.int64], v: _V, sums: _V) -> None:
    """sums_j += Σ_i v_i block_ij over the chosen rows, summed in double."""

def add_normal_times(
    block: _Float, chosen: NDArray[np.int64], weights: _V, v: _V, sums: _V
) -> None:
    """sums_j += Σ_i weights_i <block_i, v> block_ij over the chosen rows, summed in double."""

def ascend(
    loss: _Loss,
    rows: _Float,
    curvature: _Float,
    y: _V,
    targets: _V,
    box: _V,
    alpha: _V,
    w: _Float,
    order: NDArray[np.int64],
    upper: float,
    lower: float,
) -> tuple[int, float, float]:
    """One pass of dual coordinate ascent over the rows of a linear SVM, with shrinking.

    Variables at a bound with a gradient above `upper` or below `lower` are left out; the others are
    moved to the front of `order`. Returns their number and the extreme projected gradients.
    """

def ascend_until(
    loss: _Loss,
    rows: _Float,
    curvature: _Float,
    y: _V,
    targets: _V,
    box: _V,
    alpha: _V,
    w: _Float,
    order: NDArray[np.int64],
    state: tuple[int, float, float],
    precision: float,
    most_passes: int,
    seed: int,
) -> tuple[int, bool, tuple[int, float, float]]:
    """Such passes, each in a random order, until no violation exceeds `precision`, at most so many.

    `state` says how many rows, the first of the order, are active, and from which gradients on others are left out;
    (len(order), inf, -inf) to begin with. Returns the passes made, whether they led to the precision, and the state.
    """

def climb(
    loss: _Loss,
    gram: _Float,
    y: _V,
    targets: _V,
    box: _V,
    alpha: _V,
    f: _V,
    precision: float,
    most_steps: int,
) -> tuple[int, float]:
    """Greedy dual coordinate ascent on a working set with the kernel values `gram`; f follows alpha.

    Ends when no violation exceeds the precision, or after so many steps. Returns their number and the
    largest violation.
    """

def climb_blocks(
    blocks: _Blocks,
    bounds: _Bounds,
    state: _Vectors,
    scale: _Two,
    goal: float,
    most_rounds: int,
    working_set: tuple[NDArray[np.int32] | None, NDArray[np.int64]],
) -> tuple[float, float, float, float, int, bool]:
    """Climb Σ target_i β_i - ε|β_i| - ½ β·Kβ, where Σ β_i = 0 and each β_i has bounds; feasible to begin with.

    K is that of two groups of rows, the second of which may be empty. The state, β and target_i - f_i, changes in place
    until the gap is within the goal, at most for so many rounds. Its `scale` are the cost of no model, and the part of it
    that any has. The working set is places of the rows of the first block, negative for those that it lacks, and ages,
    zero to begin with: negative for new rows of a set that waits until all of its rows are there. Returns P, D, what their
    gap is measured by, the bias, the rounds made, and whether it waits.
    """

def climb_pairs(
    kernel: NDArray[np.floating[Any]],
    box: NDArray[np.float64],
    starts: NDArray[np.int64],
    pairs: NDArray[np.int64],
    goal: float,
    most_rounds: int,
    found: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> None:
    """Solve pairs of classes as `climb_blocks` does, for the hinge loss; the kernel is that of all rows, class by class.

    Finds β and target_i - f_i, pair after pair; of each P, D, what their gap is measured by, the bias and the rounds."""

def ascend_pairs(
    rows: _ClassRows,
    pairs: NDArray[np.int64],
    goal: float,
    most_rounds: int,
    most_values: float,
    seed: int,
    found: _Found,
) -> int:
    """Solve pairs of classes by coordinate ascent, each until its gap is within the goal, or for so many rounds.

    Returns how many of them: once so many features have been visited, no other pair is begun. Hinge loss; the last feature is a constant that costs nothing. What is found, zero to begin with, has a row for each
    pair: the best w, w(α) without the constant, and P, D, what their gap is measured by and the passes; and α, pair after pair.
    """

def reduce(
    terms: _Terms, size: int, kernel: _Kernel, maintenance: _Maintenance, budget: int
) -> tuple[int, float]:
    """Run budget maintenance until there are no more than `budget` terms, or a bounded number of times.

    Returns the new size and the sum of the degradations.
    """

def joint_reduce(
    terms: _Terms, size: int, coef: _V, kernel: _Kernel, maintenance: _Maintenance, budget: int
) -> tuple[int, float]:
    """The same for several outputs; coef as for `joint`."""

def decision(rows: _Rows, terms: _Terms, size: int, kernel: _Kernel, out: _V) -> None:
    """Evaluate sum_j coef[j] k(x, z_j) for every row x."""

def kernel_block(rows: _Rows, terms: _Terms, size: int, kernel: _Kernel, out: NDArray[Any]) -> None:
    """Evaluate k(x, z_j) for every row x and every term; a column more is set to 1."""

def pruned_decision(
    rows: _Rows, terms: _Terms, size: int, kernel: _Kernel, extents: _Extents, out: _V
) -> None:
    """The same as `decision`, but for terms that add less than rounding errors do."""

def near_panels(
    rows: _Rows, kernel: _Kernel, extents: _Extents, farthest: float, out: NDArray[np.bool_]
) -> None:
    """Whether panels, (rows, panels), may have a kernel value above exp(-farthest)."""

def panel_values(
    rows: _Rows,
    terms: _Terms,
    size: int,
    kernel: _Kernel,
    starts: NDArray[np.int64],
    numbers: NDArray[np.int32],
    out: _Float,
) -> None:
    """Evaluate k(x, z_j) for the panels of each row that are named, (all of them, lanes); 0 where there is no term."""

def panel_times(panels: _Panels, chosen: NDArray[np.int64], coef: _V, out: _V) -> None:
    """The same as `times`, for rows of panels; coef has room for all panels."""

def add_panel_transposed(panels: _Panels, chosen: NDArray[np.int64], v: _V, sums: _V) -> None:
    """The same as `add_transposed_times`, for rows of panels."""

def add_panel_normal(
    panels: _Panels, chosen: NDArray[np.int64], weights: _V, v: _V, shift: float, sums: _V
) -> float:
    """sums += Σ_i f_i k_i, where f_i = weights_i (<k_i, v> + shift); returns Σ_i f_i."""

def add_panel_gram(
    panels: _Panels, chosen: NDArray[np.int64], weights: _V, first: int, last: int, sums: _V
) -> None:
    """sums += Σ_i weights_i k_i k_iᵀ, of a panel p from `first` to before `last`, and others from p on."""

def add_panel_blocks(
    panels: _Panels, chosen: NDArray[np.int64], weights: _V, first: int, sums: _V
) -> None:
    """The same for blocks along the diagonal, (blocks, width, width), from block `first` on; their upper halves."""

def merge_point(rho: float, L: float, golden: bool = False) -> tuple[float, float, float]:
    """The best (h, v(h), degradation / beta_b²) for merging, L = -ln k(z_a, z_b)."""

def joint_merge_point(
    rho: float, cosine: float, L: float, iterations: int = 40, golden: bool = False
) -> tuple[float, float]:
    """The same for rows of coefficients, rho being the ratio of their norms: (h, degradation)."""

def table_degradation(rho: float, L: float) -> float:
    """The degradation / beta_b² as the table interpolates it."""

def libsvm_size(text: NDArray[np.uint8]) -> tuple[int, int]:
    """How many rows and entries a LIBSVM text may have, at most."""

def read_libsvm(
    text: NDArray[np.uint8],
    first: int,
    features: int,
    labels: _V,
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: _V,
) -> tuple[int, int, int, int, int]:
    """Read the rows of a LIBSVM text, up to the first fault.

    Returns the number of rows and of entries, the least and the largest index, and how many bytes into the text the
    fault is (-1: none). Indices count from `first`.
    """

def level() -> str:
    """The instruction set level in use: "baseline", "v3" or "v4"."""
