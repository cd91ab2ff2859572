"""Looking for the C at which dual variables make up a share of their bounds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from budgetsvm._polish.share import _Search


@given(
    root=st.floats(-8, 8),
    bend=st.floats(0.2, 5),
    steepness=st.floats(0.3, 1.0),
)
def test_a_falling_function_is_solved_in_a_few_steps(
    root: float, bend: float, steepness: float
) -> None:
    def share(x: float) -> float:  # flat first, then falling
        return -steepness * (np.logaddexp(0, bend * (x - root)) - np.log(2)) / bend

    search, x = _Search(), 0.0
    while abs(share(x)) >= 0.02:
        found = search.next(share(x))
        if found is None:
            break
        x = found
    assert abs(share(x)) < 0.03 or abs(x - root) < 0.05
    assert len(search.seen) <= 12


def test_a_function_without_a_root_is_given_up() -> None:
    search, count = _Search(), 0
    while search.next(0.5) is not None:
        count += 1
        assert count < 100
