"""Phase 1 for several outputs without a budget: there is nothing to share, each is trained by itself."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.records import Fields, Record
from budgetsvm._learn.keeper import PartKeeper
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._learn.trainer import Trainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import points_of, stacked
from budgetsvm._problem.problem import Problem
from budgetsvm.monitoring._observer import Counts, EpochRecord, Learned, LearnMoment, Observers


class SeparateOutputs(Trainer):
    """Trains one output after the other; before the last there is no model to show."""

    def __init__(
        self,
        model: KernelExpansion,
        problem: Problem,
        settings: Settings,
        rng: np.random.Generator,
        observers: Observers,
        *,
        done: int = 0,
    ) -> None:
        self.model, self.problem, self.settings = model, problem, settings
        self.rng, self.observers, self.t = rng, observers, done
        self.history: list[EpochRecord] = []
        self._bias = model.bias.copy()
        #: of the terms of the model, and of all rows
        self._coef = np.zeros((problem.targets.count, len(model) + len(problem.targets)))
        self._first = 0  # output that is trained
        self._resumed: Any = None  # what trains it, if it goes on

    def learn(self, plan: Plan) -> None:
        """Make the visits of a plan, for every output."""
        count, clock = self.problem.targets.count, self.observers.clock
        for c in range(self._first, count):
            now = clock()
            until = now + (plan.until - now) / (count - c)  # a fair share of the time left
            self._train(c, replace(plan, until=until))
        self.t += plan.visits

    def _train(self, c: int, plan: Plan) -> None:
        rows, known = self.problem.targets.rows_of(c), len(self.model)
        if rows is not None and len(rows) == 0:  # a block of a stream may lack these classes
            self._coef[c, :known], self._bias[c] = self.model.coef[c], self.model.bias[c]
            return
        single, plan = self._trainer(c, rows, plan)
        if self._resumed is not None:
            single, self._resumed = self._resumed, None
        single.until = plan.until
        single.keeper = PartKeeper(self.keeper, lambda state: self._state(c, state))
        single.run(plan)
        used = np.flatnonzero(single.slots >= 0)
        self._coef[c, :known] = single.terms.coef[:known]
        where = used if rows is None else rows[used]
        self._coef[c, known + where] = single.terms.coef[single.slots[used]]
        self._bias[c] = single.bias[0] if self.settings.intercept else 0.0

    def _trainer(self, c: int, rows: NDArray[np.int64] | None, plan: Plan) -> tuple[Any, Plan]:
        """Return what trains an output on its rows, and for how long."""
        model = replace(self.model, coef=self.model.coef[[c]], bias=self.model.bias[[c]])
        problem = replace(self.problem, targets=self.problem.targets.of_output(c))
        if rows is not None:
            own = replace(self.problem.rows, X=self.problem.rows.X[rows])
            share = len(rows) / len(self.problem.rows)
            problem = replace(problem, rows=own, n_total=round(share * problem.n_total))
            plan = replace(plan, visits=max(1, round(share * plan.visits)))
        single: Any = OutputTrainer(
            model, problem, self.settings, self.rng, self.observers, done=self.t
        )
        single.shows_model, single.history = False, self.history
        return single, plan

    def _state(self, c: int, state: Record) -> Record:
        """Return all it takes to go on with an output; those before it are done."""
        return {"output": c, "coef": self._coef[:c], "bias": self._bias[:c], "trainer": state}

    def restore(self, fields: Fields, plan: Plan) -> None:
        """Take over the state that another trainer has kept."""
        c = self._first = int(fields.count("output", most=len(self._coef) - 1))
        shape = (c, self._coef.shape[1])
        self._coef[:c] = fields.weights("coef", shape)
        self._bias[:c] = fields.weights("bias", (c,))
        rows = self.problem.targets.rows_of(c)
        if rows is not None and len(rows) == 0:
            fields.fail("output", "must be one with rows")
        self._resumed, plan = self._trainer(c, rows, plan)
        self._resumed.restore(fields.inside("trainer"), plan)
        fields.end()

    def result(self) -> Learned:
        """Return the state of training, with a model without terms of no weight."""
        known, used = len(self.model), np.asarray(self._coef.any(axis=0))
        rows = np.flatnonzero(used[known:])
        points = stacked(self.model.points[used[:known]], points_of(self.problem.rows, rows))
        coef = np.ascontiguousarray(self._coef[:, used])
        model = replace(self.model, points=points, coef=coef, bias=self._bias)
        rounds = -(-len(self.history) // self.problem.targets.count)
        return Learned(model, self.t, rounds, self.history)

    def moment(self, visits: int = 0, counts: Counts | None = None) -> LearnMoment:
        """Return what observers get to see, in the end."""
        learned = self.result()
        return LearnMoment(visits, counts or Counts(), len(learned.model), lambda: learned, None)
