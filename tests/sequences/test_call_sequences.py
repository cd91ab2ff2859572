"""No order of calls, changes of parameters or interruptions may give a wrong answer.

The number of sequences is that of the environment variable BUDGETSVM_SEQUENCES; with it, they are
different ones in every run, by a seed that is printed (and set by BUDGETSVM_SEQUENCES_SEED). A sequence that
fails is printed as a program. One that ends the process is found in the file that
BUDGETSVM_SEQUENCES_LOG names.
"""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sequences.runs import SUBJECTS, Data, Run
from sequences.strategies import BEGIN, changes, data, faults

_ASKED = os.environ.get("BUDGETSVM_SEQUENCES")
_SEED = int(os.environ.get("BUDGETSVM_SEQUENCES_SEED", time.time_ns() % 10**9))
_LOG = os.environ.get("BUDGETSVM_SEQUENCES_LOG")
_USUAL, _PER_ROUND, _LONGEST = 150, 500, 9


class Calls(RuleBasedStateMachine):
    """Calls in any order, on any estimator."""

    subject = "two classes"
    run: Run

    @initialize(
        subject=st.sampled_from(list(SUBJECTS)), width=st.sampled_from([2, 2, 1, 4]), draw=st.data()
    )
    def begin(self, subject: str, width: int, draw: Any) -> None:
        self.width, self.draw = width, draw
        known = SUBJECTS[subject]().get_params()
        parameters = {name: value for name, value in BEGIN.items() if name in known}
        self.run = Run(subject, log=_write_log, **parameters)
        if draw.draw(st.booleans()):
            self.run.set_params(**draw.draw(changes(subject)))

    @rule(draw=st.data())
    def set_params(self, draw: Any) -> None:
        self.run.set_params(**draw.draw(changes(self.run.subject)))

    @rule(draw=st.data(), fault=faults("core", "line", "monitor", "kernel"))
    def fit(self, draw: Any, fault: Any) -> None:
        self.run.fit(self._data(draw), fault=fault)
        self._count("fit")

    @rule(draw=st.data(), fault=faults("core", "line", "kernel"))
    def partial_fit(self, draw: Any, fault: Any) -> None:
        self.run.partial_fit(self._data(draw), fault=fault)
        self._count("partial_fit")

    @rule(draw=st.data())
    def partial_fit_without_fault(self, draw: Any) -> None:
        self.run.partial_fit(self._data(draw))
        self._count("partial_fit")

    @precondition(lambda self: not self.run.is_features)
    @rule(fault=faults("core", "line", "kernel"))
    def polish_now(self, fault: Any) -> None:
        self.run.polish_now(fault=fault)
        self._count("polish_now")

    @precondition(lambda self: not self.run.is_features)
    @rule(
        draw=st.data(),
        count=st.integers(1, 3),
        form=st.sampled_from(["tuple", "list"]),
        fault=faults("core", "line", "kernel", "blocks"),
    )
    def fit_stream(self, draw: Any, count: int, form: str, fault: Any) -> None:
        parts = [self._data(draw) for _ in range(count)]
        self.run.fit_stream(*parts, form=form, fault=fault)
        self._count("fit_stream")

    @rule(draw=st.data(), fault=faults("core", "line", "kernel"))
    def look(self, draw: Any, fault: Any) -> None:
        self.run.look(self._data(draw), fault=fault)

    @rule()
    def pickled(self) -> None:
        self.run.pickled()

    @rule()
    def from_snapshot(self) -> None:
        self.run.from_snapshot()

    @rule()
    def renewed(self) -> None:
        self.run.renewed()

    def teardown(self) -> None:
        if hasattr(self, "run") and not self.run.failed:
            self.run.finish()

    def _data(self, draw: Any) -> Data:
        return draw.draw(data(self.width))

    def _count(self, name: str) -> None:
        event(f"{name} {'succeeded' if self.run.succeeded else 'failed'}")


def _write_log(program: str) -> None:
    if _LOG:
        Path(_LOG).write_text(program, encoding="utf-8")


def _rounds() -> list[int]:
    """How many sequences there are in every round; a round ends with its first finding."""
    total = int(_ASKED or _USUAL)
    full, rest = divmod(total, _PER_ROUND)
    return [_PER_ROUND] * full + [rest] * (rest > 0)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "count"), list(enumerate(_rounds())))
def test_no_sequence_of_calls_gives_a_wrong_answer(number: int, count: int) -> None:
    machine = type("Calls", (Calls,), {})
    if _ASKED:
        print(f"BUDGETSVM_SEQUENCES_SEED={_SEED}, round {number}")
        seed(_SEED + number)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=count,
            stateful_step_count=_LONGEST,
            derandomize=not _ASKED,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
