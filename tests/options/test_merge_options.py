"""Every option of maintenance acts, whatever the number of outputs, or is refused."""

from typing import Any

import numpy as np
import pytest
from sequences.runs import SUBJECTS, Data, Merge

from budgetsvm.maintenance import Maintenance

OUTPUTS = ["two classes", "three classes", "one target", "two targets", "one class"]
OPTIONS: dict[str, Maintenance] = {
    "n_terms=3": Merge(n_terms=3),
    "n_terms=5": Merge(n_terms=5),
    "search": Merge(search="golden"),
    "partners": Merge(partners="same-sign"),
}


def _terms(subject: str, solver: str, maintenance: Any) -> Any:
    """Return the terms that phase 1 learns."""
    data = Data(n=400, d=3)
    model = SUBJECTS[subject](
        budget=15, gamma=1.0, maintenance=maintenance, solver=solver, polish=False, random_state=0
    )
    return model.fit(data.rows(), data.targets(subject)).support_vectors_


@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("subject", OUTPUTS)
def test_an_option_makes_a_difference_or_is_refused(subject: str, option: str, solver: str) -> None:
    usual = _terms(subject, solver, Merge())
    try:
        changed = _terms(subject, solver, OPTIONS[option])
    except ValueError as error:
        assert option.split("=", maxsplit=1)[0] in str(error)  # noqa: PT017 - one of two ways out
        assert subject not in ("two classes", "one target", "one class")
        return
    if (subject, option) == ("one class", "partners"):
        return  # all coefficients have the same sign
    assert changed.shape != usual.shape or not np.array_equal(changed, usual)


@pytest.mark.parametrize("subject", OUTPUTS)
def test_the_name_is_the_object(subject: str) -> None:
    for name, made in (("merge", Merge()), ("multimerge", Merge(n_terms=3))):
        np.testing.assert_array_equal(_terms(subject, "bsca", name), _terms(subject, "bsca", made))
