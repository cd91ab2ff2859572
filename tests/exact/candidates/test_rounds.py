"""The full problem on rows that may be support vectors: the same solution as of all rows, found where these are few."""

from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_certificate, check_primal
from oracles.problems import blobs, moons, noisy_xor, weights
from scipy import sparse
from sklearn.svm import SVC, SVR

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm._common.limits import OutOfTime
from budgetsvm._exact.candidates import rounds
from budgetsvm._exact.candidates.rounds import Candidates
from budgetsvm._exact.solved import SolvedDual

N, BUDGET = 3000, 400
FULL, SPAN = "full problem", "span"
QUIET: dict[str, Any] = {"C": 10.0, "gamma": 1.0, "budget": BUDGET, "random_state": 0}


def quiet(seed: int = 0, n: int = N) -> tuple[Any, Any]:
    """Data of which some two hundred rows are support vectors."""
    return moons(n, seed, noise=0.15)


def curve(n: int = N) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.04 * rng.standard_normal(n)


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[SolvedDual | None]:
    """What became of all attempts."""
    found, solve = [], Candidates.solve

    def spy(self: Candidates, *how: Any) -> SolvedDual | None:
        found.append(solve(self, *how))
        return found[-1]

    monkeypatch.setattr(Candidates, "solve", spy)
    return found


@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_it_is_the_machine_of_scikit_learn(C: float, attempts: list[Any]) -> None:
    X, y = quiet()
    model = BudgetSVC(**{**QUIET, "C": C, "budget": 700}, tol=1e-5).fit(X, y)
    other = SVC(C=C, gamma=1.0, tol=1e-5).fit(X, y)
    assert attempts
    assert model.certifies_ == FULL
    assert model.n_iter_ == 0
    assert len(model.support_vectors_) <= 700
    check_certificate(model)
    check_primal(model, X, y)
    assert abs(model.decision_function(X) - other.decision_function(X)).max() < 0.1
    assert np.mean(model.predict(X) == other.predict(X)) > 0.998


def test_so_it_is_of_regression(attempts: list[Any]) -> None:
    X, y = curve()
    model = BudgetSVR(C=10.0, gamma=0.5, epsilon=0.1, budget=700, random_state=0).fit(X, y)
    scale = model.target_scale_
    other = SVR(C=10.0 / scale, gamma=0.5, epsilon=0.1 * scale, tol=1e-5)
    other.set_params(C=10.0, epsilon=0.1).fit(X, (y - model.target_mean_) / scale)
    assert len(attempts) == 1
    assert model.certifies_ == FULL
    check_certificate(model)
    check_primal(model, X, y)
    expected = model.target_mean_ + scale * other.predict(X)
    assert abs(model.predict(X) - expected).max() < 0.05 * scale


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rare", [0.5, 0.01])
def test_weights_and_rare_classes(rare: float, weighted: bool) -> None:
    X, y = quiet(3)
    keep = np.flatnonzero((y > 0) | (np.random.default_rng(0).random(N) < rare))
    X, y = X[keep], y[keep]
    own = weights(len(y), 1) if weighted else None
    model = BudgetSVC(**QUIET).fit(X, y, own)
    assert model.certifies_ == FULL
    check_certificate(model)
    check_primal(model, X, y, own)


def test_dense_and_sparse_rows_threads_and_precision_do_not_matter() -> None:
    X, y = quiet(1)
    X = np.where(abs(X) < 0.2, 0.0, X)
    options = {**QUIET, "tol": 1e-4}
    one = BudgetSVC(**options, n_jobs=1).fit(X, y)
    two = BudgetSVC(**options, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    f = one.decision_function(X)
    for other, rows in (
        (BudgetSVC(**options), sparse.csr_array(X)),
        (BudgetSVC(**options, precision="double"), X),
        (BudgetSVC(**options), np.asfortranarray(X.astype(np.float32))),
    ):
        other.fit(rows, y)
        assert other.certifies_ == FULL
        assert abs(other.decision_function(rows) - f).max() < 0.05


def test_copies_of_rows_and_a_sample_of_one_class_alone() -> None:
    X, y = quiet(2, 500)
    model = BudgetSVC(**QUIET).fit(np.repeat(X, 6, axis=0), np.repeat(y, 6))
    assert model.certifies_ == FULL
    check_primal(model, np.repeat(X, 6, axis=0), np.repeat(y, 6))
    order = np.argsort(y, kind="stable")  # one class after the other
    X, y = quiet(2)
    order = np.argsort(y, kind="stable")
    model = BudgetSVC(**QUIET).fit(X[order], y[order])
    assert model.certifies_ == FULL


def test_d_never_falls_and_the_gap_is_that_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[SolvedDual] = []
    solve = Candidates.solve

    def spy(self: Candidates, bounds: Any, budget: int, show: Any) -> SolvedDual | None:
        return solve(self, bounds, budget, lambda now: (seen.append(now), show(now)))

    monkeypatch.setattr(Candidates, "solve", spy)
    X, y = quiet()
    BudgetSVC(**QUIET).fit(X, y)
    assert len(seen) >= 3
    duals = np.array([one.found.dual for one in seen])
    assert (np.diff(duals) > -1e-6 * duals[-1]).all()
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    signs = np.where(y == y.max(), 1.0, -1.0)
    for one in seen:
        f = K @ one.beta
        np.testing.assert_allclose(one.f, f, atol=1e-3)
        primal = 0.5 * one.beta @ f + 10 * np.maximum(0, 1 - signs * (f + one.bias)).sum()
        assert one.found.primal == pytest.approx(primal, rel=1e-4)
        assert abs(one.beta.sum()) < 1e-6 * abs(one.beta).sum()


def test_noise_is_seen_before_any_work_is_done(
    monkeypatch: pytest.MonkeyPatch, attempts: list[Any]
) -> None:
    rounds: list[int] = []
    look = Candidates._round
    monkeypatch.setattr(
        Candidates, "_round", lambda self, *how: rounds.append(1) or look(self, *how)
    )
    X, y = noisy_xor(N, 0, flips=0.3)
    model = BudgetSVC(C=1.0, budget=300, random_state=0).fit(X, y)
    assert attempts == [None]
    assert rounds == []
    assert model.certifies_ == SPAN
    assert model.n_iter_ > 0


def test_who_asks_for_epochs_gets_them(attempts: list[Any]) -> None:
    X, y = quiet()
    model = BudgetSVC(**QUIET, epochs=2).fit(X, y)
    assert attempts == []
    assert model.n_iter_ >= 2


def test_a_few_more_support_vectors_than_terms() -> None:
    X, y = blobs(4000, 5, 0, distance=4.0)
    whole = BudgetSVC(C=10.0, gamma=0.3, budget=900, random_state=0).fit(X, y)
    count = len(whole.support_vectors_)
    assert whole.certifies_ == FULL
    assert count > 300
    fewer = BudgetSVC(C=10.0, gamma=0.3, budget=int(count / 1.3), random_state=0).fit(X, y)
    assert fewer.certifies_ == FULL
    assert len(fewer.support_vectors_) <= count / 1.3
    check_certificate(fewer)
    check_primal(fewer, X, y)
    assert fewer.objective_[1] == pytest.approx(whole.objective_[1], rel=2e-3)
    np.testing.assert_allclose(X[fewer.support_], fewer.support_vectors_, atol=1e-5)


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_tolerance_is_kept(tol: float) -> None:
    X, y = quiet()
    model = BudgetSVC(**QUIET, tol=tol).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= tol
    check_primal(model, X, y)


def test_without_time_both_phases_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: Any) -> None:
        raise OutOfTime

    monkeypatch.setattr(Candidates, "solve", late)
    X, y = quiet()
    model = BudgetSVC(**QUIET, time_limit=60).fit(X, y)
    assert model.n_iter_ > 0
    assert model.converged_


@pytest.mark.parametrize(("memory", "enough"), [(2_000_000, True), (100_000, False)])
def test_no_memory_for_the_candidates_is_no_reason_to_fail(
    memory: int, enough: bool, attempts: list[Any]
) -> None:
    X, y = quiet()
    model = BudgetSVC(**QUIET, memory_limit=memory).fit(X, y)
    assert (attempts[0] is not None) == enough
    assert model.converged_


def test_fitting_again_with_another_C() -> None:
    X, y = quiet()
    model = BudgetSVC(**QUIET, warm_start=True).fit(X, y)
    model.set_params(C=30.0).fit(X, y)
    alone = BudgetSVC(**{**QUIET, "C": 30.0}).fit(X, y)
    assert model.certifies_ == alone.certifies_ == FULL
    assert model.objective_[0] == pytest.approx(alone.objective_[0], rel=5e-3)


@pytest.mark.parametrize("budget", [BUDGET, N - 1, N, 10 * N])
def test_where_not_all_kernel_values_fit_into_memory(budget: int, attempts: list[Any]) -> None:
    X, y = quiet()
    whole = BudgetSVC(**QUIET).fit(X, y)
    attempts.clear()
    model = BudgetSVC(**{**QUIET, "budget": budget}, memory_limit=20_000_000).fit(X, y)
    assert len(attempts) == 1
    assert model.certifies_ == FULL
    assert model.objective_[0] == pytest.approx(whole.objective_[0], rel=2e-3)


def test_a_first_sample_that_makes_losses_for_nearly_all_rows_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    look = Candidates._round

    def spy(self: Candidates, chosen: Any, near: float) -> SolvedDual | None:
        sizes.append(len(chosen))
        return look(self, chosen, near)

    monkeypatch.setattr(Candidates, "_round", spy)
    monkeypatch.setattr(rounds, "_FEWEST", 32)
    monkeypatch.setattr(rounds, "_SAMPLE", 0)
    X, y = quiet()
    # Room for 600 candidates: fewer than have a loss at first, more than there are support vectors.
    model = BudgetSVC(**QUIET, precision="single", memory_limit=4 * 600**2 / 0.75).fit(X, y)
    assert model.certifies_ == FULL
    assert max(sizes) <= 600
    assert sizes == sorted(set(sizes)) or len(sizes) > 3


@pytest.mark.parametrize("C", [1e2, 1e4])
@pytest.mark.parametrize("rare", [1, 3])
def test_a_class_of_a_few_rows(rare: int, C: float) -> None:
    """Hardly anybody has a loss at first, whoever has it has much of it, and P takes its time."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20_000, 4)), -np.ones(20_000)
    y[[77, 5000, 12_345][:rare]] = 1
    model = BudgetSVC(C=C, gamma=0.25, budget=300, random_state=0).fit(X, y)
    assert model.certifies_ == FULL
    check_certificate(model)
    check_primal(model, X, y)
    other = SVC(C=C, gamma=0.25).fit(X, y)
    np.testing.assert_array_equal(model.predict(X[y > 0]), other.predict(X[y > 0]))


def test_no_end_of_C_is_too_large() -> None:
    """Classes that can be separated: a round may not come as far as it should, and goes on in the next one."""
    rng = np.random.default_rng(1)
    X = rng.random((8000, 4))
    y = np.sign(np.sin(5 * X[:, 0]) + X[:, 1] + X[:, 2] ** 2 - 1.2)
    model = BudgetSVC(C=1e8, gamma=2.0, budget=400, random_state=0).fit(X, y)
    other = SVC(C=1e8, gamma=2.0).fit(X, y)
    assert model.certifies_ == FULL
    assert model.converged_
    check_primal(model, X, y)
    assert model.score(X, y) >= other.score(X, y) - 1e-3
