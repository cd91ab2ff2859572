"""The corners of LIBSVM's grid, where single precision and loose certificates would show."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

pytest.importorskip("benchmarks", reason="the benchmarks are not part of what is installed")

from benchmarks.models.exact import ExactSVM
from benchmarks.options import Options
from benchmarks.problems.grid import GridProblem, grid_problems
from benchmarks.report.record import Record
from benchmarks.suite.libsvm_grid import Cell, measure, summary

CORNERS = [(-15, -5), (-15, 15), (3, -5), (3, 15)]
# A flat kernel, and a C that needs it.
HARD = [(-11, 15), (-9, 13), (-7, 11), (-5, 15)]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Let BLAS not compete with itself: the matrices are small."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def problems() -> dict[str, GridProblem]:
    return {problem.name: problem for problem in grid_problems()}


@pytest.mark.parametrize(("gamma", "C"), CORNERS + HARD)
@pytest.mark.parametrize("name", ["circles", "breast cancer"])
def test_no_cell_is_converged_and_worse(
    problems: dict[str, GridProblem], name: str, gamma: int, C: int
) -> None:
    for cells in measure(problems[name], [C], [gamma]).values():
        for cell in cells:
            assert not cell.bad, cell


@pytest.mark.parametrize(("gamma", "C"), [(-15, -5), (-11, -5), (-5, 5), (3, 15)])
def test_no_cell_of_several_classes_is_converged_and_worse(
    problems: dict[str, GridProblem], gamma: int, C: int
) -> None:
    """One class against one with a bias as SVC, and each against the rest without, against the same."""
    for cells in measure(problems["digits"], [C], [gamma], full=True).values():
        assert not cells[0].bad, cells[0]


def test_the_exact_machine_is_exact(problems: dict[str, GridProblem]) -> None:
    problem = problems["breast cancer"]
    machine = ExactSVM(32.0, 0.03).fit(problem.X, problem.y)
    assert max(machine.gaps) < 1e-5
    assert machine.score(problem.X_test, problem.y_test) > 0.93


def test_cells_say_what_counts() -> None:
    worse, loose = Cell(1, 1, 0.9, 0.85, True, True), Cell(1, 3, 0.9, 0.85, False, True)
    small = Cell(3, 1, 0.9, 0.85, True, False)
    assert [cell.text() for cell in (worse, loose, small)] == ["-5.0!", "-5.0*", "(-5.0)"]
    found = summary([worse, loose, small])
    assert (found["bad"], found["unconverged"], found["cells"]) == (1, 1, 3)


def test_the_tables_have_a_cell_for_every_pair(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from benchmarks.suite import libsvm_grid

    monkeypatch.setattr(libsvm_grid, "EXPONENTS_C", (-5, 5))
    monkeypatch.setattr(libsvm_grid, "EXPONENTS_GAMMA", (-3, 1))
    record = Record({}, {})
    libsvm_grid.run(record, iter(()), Options(["grid"], None, 1, 1, 1, False, tmp_path))
    grids = [table for table in record.tables if "against" in table.title]
    assert len(grids) == 5
    assert all(len(row) == 3 for table in grids for row in table.rows)
    assert len(record.tables[-1].rows) == len(grids)
