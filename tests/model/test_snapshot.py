"""What is plain, what the head of a snapshot says, and how old ones are read."""

from typing import Any

import numpy as np
import pytest
from tools.frozen import frozen
from tools.plain import assert_plain, through_a_file

import budgetsvm
from budgetsvm import kernels, losses, maintenance, solvers
from budgetsvm._common.random_states import random_record, random_source
from budgetsvm._common.records import Fields
from budgetsvm._model import snapshot
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.option_records import option_record, read_option
from budgetsvm._model.snapshot import FORMAT, VERSION, opened, plain, sealed
from budgetsvm.kernels import Callback, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from budgetsvm.losses import Hinge, Logistic, Loss, SquaredHinge
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD, Solver

OPTIONS = [
    (Kernel, Gaussian()),
    (Kernel, Gaussian(np.float32(0.1))),
    (Kernel, Laplacian(2)),
    (Kernel, Polynomial(4, "auto", -1.0)),
    (Kernel, Sigmoid(0.5, 0.25)),
    (Kernel, Linear()),
    (Loss, Hinge()),
    (Loss, SquaredHinge()),
    (Loss, Logistic()),
    (Solver, BSCA("uniform")),
    (Solver, BSGD()),
    (Maintenance, Merge(4, "golden", "same-sign")),
    (Maintenance, Project()),
    (Maintenance, Remove()),
]


@pytest.mark.parametrize(("kind", "option"), OPTIONS, ids=str)
def test_options_come_back(kind: Any, option: Any) -> None:
    record = plain(option, "it")
    assert_plain(record)
    assert record["name"] == option.name
    again = read_option(kind, Fields({"it": through_a_file(record)}, "here"), "it")
    assert type(again) is type(option)
    assert frozen(again) == frozen(option)


def test_all_public_options_are_among_these() -> None:
    """Who adds an option need not think of snapshots."""
    ours = {option.name for _, option in OPTIONS} | {
        "callable",
        "precomputed",
        "epsilon_insensitive",
    }
    for module in (kernels, losses, maintenance, solvers):
        public = (getattr(module, name) for name in module.__all__)
        assert {one.name for one in public if hasattr(one, "name")} <= ours


WRONG_OPTIONS: dict[str, Any] = {
    "no record": "rbf",
    "no name": {"gamma": 1.0},
    "unknown name": {"name": "os.system"},
    "function": {"name": "callable", "function": None},
    "missing": {"name": "rbf"},
    "superfluous": {"name": "rbf", "gamma": 1.0, "degree": 2},
    "negative": {"name": "rbf", "gamma": -1.0},
    "unknown word": {"name": "rbf", "gamma": "best"},
    "no number": {"name": "poly", "gamma": 1.0, "degree": 2.5, "coef0": 0.0},
    "too large": {"name": "poly", "gamma": 1.0, "degree": 2**40, "coef0": 0.0},
    "another kind": {"name": "hinge"},
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_wrong_options_are_refused(case: str) -> None:
    with pytest.raises(ValueError, match="here"):
        read_option(Kernel, Fields({"it": WRONG_OPTIONS[case]}, "here"), "it")


def test_options_of_others_have_no_record() -> None:
    assert option_record(Callback(np.inner)) is None
    with pytest.raises(ValueError, match=r"the kernel is Callback.*cannot hold"):
        plain(Callback(np.inner), "the kernel")


PLAIN = [None, True, 3, 2**100, 0.5, float("inf"), "ß", [1, [2]], {"a": [None]}, (1, 2)]
PLAIN += [np.float32(1), np.bool_(True), np.str_("x"), np.arange(3), np.eye(2).T, np.array(["a"])]
NOT_PLAIN = [b"x", {1: 2}, {3}, 1j, np.complex128(1), np.array([None]), np.datetime64("2020-01-01")]
NOT_PLAIN += [object(), print, np.ma.array([1]), np.array([b"x"]), np.zeros(1, "i4,i4"), [{1, 2}]]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain(value: Any) -> None:
    made = plain(value, "it")
    assert_plain(made)
    snapshot.check_plain(made, "it")


@pytest.mark.parametrize("value", NOT_PLAIN, ids=lambda value: type(value).__name__)
def test_not_plain(value: Any) -> None:
    with pytest.raises(ValueError, match=r"it.*cannot hold"):
        plain(value, "it")
    with pytest.raises(ValueError, match=r"it.*plain"):
        snapshot.check_plain(value if not isinstance(value, np.ma.MaskedArray) else {3}, "it")


def test_the_head() -> None:
    made = sealed({"points": np.eye(2)})
    assert made["format"] == FORMAT
    assert made["version"] == VERSION
    assert made["library"] == budgetsvm.__version__
    assert opened(made)["points"] is made["machine"]["points"]


def test_nothing_deep() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="plain"):
        opened(sealed({}) | {"machine": deep})


WRONG_HEADS: dict[str, tuple[Any, str]] = {
    "nothing": (None, "must be a dict"),
    "list": ([], "must be a dict"),
    "empty": ({}, "lacks the field 'format'"),
    "other format": (sealed({}) | {"format": "pickle"}, "'format'.*must be one of"),
    "newer": (sealed({}) | {"version": VERSION + 1, "library": "9.9"}, "9.9.*newer"),
    "older than old": (sealed({}) | {"version": 0}, "'version'"),
    "no version": (sealed({}) | {"version": "1"}, "'version'.*integer"),
    "superfluous": (sealed({}) | {"more": 1}, "not known: 'more'"),
    "object": (sealed({}) | {"machine": object()}, "not plain"),
}


@pytest.mark.parametrize("case", WRONG_HEADS)
def test_wrong_heads_are_refused(case: str) -> None:
    value, message = WRONG_HEADS[case]
    with pytest.raises(ValueError, match=message):
        opened(value)


def test_old_snapshots_are_brought_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    old = sealed({"a": 1})
    monkeypatch.setattr(snapshot, "VERSION", VERSION + 2)
    monkeypatch.setitem(snapshot.UPGRADES, VERSION, lambda machine: machine | {"b": 2})
    monkeypatch.setitem(snapshot.UPGRADES, VERSION + 1, lambda machine: machine | {"c": 3})
    assert opened(old) == {"a": 1, "b": 2, "c": 3}


def test_every_old_version_has_an_upgrade() -> None:
    assert set(snapshot.UPGRADES) == set(range(1, VERSION))


BITS = [np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize("kind", [np.random.Generator, np.random.RandomState])
@pytest.mark.parametrize("bits", BITS)
def test_generators_go_on(bits: Any, kind: Any) -> None:
    source = kind(bits(5))
    source.standard_normal(3)
    source.bytes(3)
    record = plain(random_record(source), "it")
    assert_plain(record)
    again = random_source(Fields(through_a_file(record), "here"))
    assert type(again) is kind
    assert frozen(again) == frozen(source)
    np.testing.assert_array_equal(again.standard_normal(2000), source.standard_normal(2000))


@pytest.mark.parametrize("bits", BITS)
def test_damaged_generators_are_refused(bits: Any) -> None:
    record = random_record(np.random.Generator(bits(5)))

    def damage(value: Any, where: tuple[str, ...] = ()) -> None:
        for key, one in value.items():
            if isinstance(one, dict):
                damage(one, (*where, key))
                continue
            for other in (None, "x", -1, 10**9, 2**200, np.zeros(2), 0.5):
                value[key] = other
                try:
                    source = random_source(Fields(record, "here"))
                except ValueError:
                    continue
                finally:
                    value[key] = one
                source.standard_normal(2000)

    damage(record["state"])


def _expansion() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    points, coef = rng.standard_normal((4, 3)), rng.standard_normal((2, 4))
    return KernelExpansion(Gaussian(0.5), points, coef, np.ones(2), np.zeros(3)).record()


def test_a_model_comes_back_without_a_copy() -> None:
    record = _expansion()
    model = KernelExpansion.of_record(Fields(record, "here"))
    assert model.points is record["points"]
    assert model.coef is record["coef"]


WRONG_MODELS: dict[str, dict[str, Any]] = {
    "points": {"points": np.full((4, 3), np.nan)},
    "large points": {"points": np.full((4, 3), 1e200)},
    "integers": {"points": np.ones((4, 3), int)},
    "half": {"points": np.ones((4, 3), np.float16)},
    "no features": {"points": np.ones((4, 0)), "centre": None},
    "no outputs": {"coef": np.ones((0, 4)), "bias": np.ones(0)},
    "coefficients": {"coef": np.ones((2, 5))},
    "bias": {"bias": np.ones(1)},
    "centre": {"centre": np.zeros(2)},
    "centre of a linear kernel": {"kernel": Linear()},
    "kernel without numbers": {"kernel": Gaussian("scale")},
    "no kernel": {"kernel": None},
}


@pytest.mark.parametrize("case", WRONG_MODELS)
def test_wrong_models_are_refused(case: str) -> None:
    with pytest.raises(ValueError, match="here"):
        KernelExpansion.of_record(Fields(_expansion() | WRONG_MODELS[case], "here"))
