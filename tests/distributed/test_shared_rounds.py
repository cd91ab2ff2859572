"""Outputs that share rounds: as many as one needs, and the model of those that do not."""

import signal
import threading
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed.client import futures_of
from sklearn.datasets import make_blobs

from budgetsvm.distributed import ClusterError, DaskBudgetSVC, DaskBudgetSVR, _matrix
from budgetsvm.distributed._cluster import Cluster
from budgetsvm.distributed._rounds.shared import SharedRounds

OPTIONS: dict[str, Any] = {"budget": 20, "gamma": 0.5, "random_state": 0, "C": 1.0}


def blobs() -> tuple[Any, Any]:
    X, y = make_blobs(1200, 2, centers=5, cluster_std=2.0, random_state=0)
    return da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=300)


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_a_model_does_not_depend_on_who_shares_rounds(
    multi_class: str, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_matrix, "_HERE", 0)  # or else the client has nearly all to itself
    models = []
    for at_once in (1, 3, 16):
        monkeypatch.setattr(_matrix, "_AT_ONCE", at_once)
        models.append(DaskBudgetSVC(multi_class=multi_class, **OPTIONS).fit(*blobs()))
    alone, some, all_ = models
    for model in (some, all_):
        np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)
        np.testing.assert_array_equal(model.intercept_, alone.intercept_)
        assert model.objective_ == alone.objective_
        assert model.duality_gap_ <= 0.01
    # What nobody waits for, such as weights that travel to the workers, every output does for itself.
    assert all_.traffic_.rounds < 0.6 * alone.traffic_.rounds
    assert all_.traffic_.rounds <= some.traffic_.rounds <= alone.traffic_.rounds


@pytest.mark.slow
def test_several_targets_share_rounds(client: Any) -> None:
    X, _ = blobs()
    y = da.stack([X[:, 0] * X[:, 1], X[:, 0], X[:, 1] ** 2], axis=1)
    model = DaskBudgetSVR(**OPTIONS).fit(X, y)
    assert model.duality_gap_ <= 0.01
    assert model.predict(X).shape == (1200, 3)


class _Broken(Exception):
    pass


def test_an_error_of_a_round_ends_all(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread that shares it gets it, none waits for ever, and nothing is left on the cluster."""
    fetch, asked = Cluster.fetch, []

    def broken(self: Cluster, futures: Any) -> Any:
        asked.append(len(futures))
        if len(asked) == 30:
            raise _Broken
        return fetch(self, futures)

    monkeypatch.setattr(Cluster, "fetch", broken)
    with pytest.raises(_Broken):
        DaskBudgetSVC(multi_class="ovr", **OPTIONS).fit(*blobs())
    monkeypatch.undo()
    assert not futures_of(client.futures.values())


def test_control_c_ends_all(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    round_, rounds = SharedRounds._round, []

    def interrupted(self: SharedRounds) -> None:
        rounds.append(threading.current_thread())
        if len(rounds) == 20:
            signal.raise_signal(signal.SIGINT)
        round_(self)

    monkeypatch.setattr(SharedRounds, "_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        DaskBudgetSVC(multi_class="ovr", **OPTIONS).fit(*blobs())
    monkeypatch.undo()
    assert DaskBudgetSVC(**OPTIONS).fit(*blobs()).converged_  # the cluster is of use


def test_nobody_waits_for_a_cluster_that_is_gone(
    make_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_client(1) as client:
        X, y = blobs()
        round_, rounds = SharedRounds._round, []

        def gone(self: SharedRounds) -> None:
            rounds.append(1)
            if len(rounds) == 10:
                client.close()
            round_(self)

        monkeypatch.setattr(SharedRounds, "_round", gone)
        with pytest.raises(ClusterError):
            DaskBudgetSVC(multi_class="ovr", **OPTIONS).fit(X, y, client=client)
