"""Learning from a stream: rows come in blocks, and are not kept but for a sample of them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from budgetsvm._common.records import Part
from budgetsvm._estimators.checkpoints.stream_run import stream_run
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.machine import all_or_nothing
from budgetsvm._estimators.streaming.reservoir import Reservoir
from budgetsvm._estimators.user_input import generator
from budgetsvm._learn.settings import Plan, Settings
from budgetsvm._problem.targets import Targets
from budgetsvm.monitoring._observer import Phase
from budgetsvm.monitoring._progress_bar import one_bar

_RECORDS = 1000  # of history_ that are kept: a stream may have any number of blocks


class StreamingMachine(BudgetMachine):
    """A machine with ``partial_fit``, which subclasses define by `_learn_block`."""

    _PARTS: ClassVar[Mapping[str, type[Part]]] = {
        **BudgetMachine._PARTS,
        "_reservoir": Reservoir,
    }

    _reservoir: Reservoir | None

    partial_fit: Callable[..., Any]  # of the subclass

    @all_or_nothing
    def polish_now(self) -> Self:
        """Solve the machine in the span of its terms, on a sample of all rows that it has seen.

        ``partial_fit`` keeps such a sample, of `reservoir` rows at most. Training may go on afterwards.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        started, settings = perf_counter(), self._settings()
        self._check_kernel(settings.kernel)
        sample = self._sample()
        if sample is None or sample.size == 0:
            message = (
                "there are no rows to polish with: polish_now works after partial_fit, with "
                f"reservoir > 0 (it is {self.reservoir})"
            )
            raise ValueError(message)
        if sample.seen < self._rows_seen:
            message = (
                f"polish_now has a sample of the last {sample.seen} rows only, but the model has "
                f"seen {self._rows_seen}: use partial_fit from the start, with reservoir > 0; or fit"
            )
            raise ValueError(message)
        if self.budget is None or len(self._expansion) == 0:
            return self
        X, encoded, weights = sample.rows()
        # Every row of the sample stands for several of the stream.
        targets = self._targets(encoded, weights * (sample.seen / len(weights)))
        self._check_outputs(targets)
        self._look_at(X, targets)
        training = self._training(settings, generator(self.random_state), started)
        with training.observers.during(Phase("polish")):
            self._polish(self._problem(X, targets), training)
        self._reservoir = sample  # which may have become smaller
        return self

    def _check_outputs(self, targets: Targets) -> None:
        """Raise a ValueError if training cannot go on with these targets, as parameters were changed."""

    @all_or_nothing
    def fit_stream(
        self,
        blocks: Iterable[Any],
        *,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        **parameters: Any,
    ) -> Self:
        """Train from scratch on blocks of rows, in one pass and bounded memory; then polish.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, sample_weight)
            The data, e.g. :func:`budgetsvm.streams.read_blocks`. Where there is no y, X alone will do.
        checkpoint : path-like, default=None
            A file to leave the state in while training, between two blocks. If it is there when the call begins, the
            run that has left it goes on: give the same stream again, from its beginning; of the blocks that were
            learned before, a checksum is all that is computed. Parameters and these blocks must be the same. See
            ``fit``.
        checkpoint_every : float, default=60.0
            Seconds between two checkpoints, at least.
        **parameters
            For ``partial_fit``: `classes`, where the first block may lack some.

        Returns
        -------
        self : object
        """
        self.__dict__.pop("_expansion", None)
        with stream_run(self, checkpoint, checkpoint_every, parameters) as run:
            with one_bar(blocks) if self.verbose > 0 else nullcontext():
                for X, y, weights in run.unlearned(self, map(_parts, blocks)):
                    weighted = {} if weights is None else {"sample_weight": weights}
                    self.partial_fit(X, y, **parameters, **weighted)
            if not hasattr(self, "_expansion"):
                raise ValueError("the stream has no rows: there is nothing to learn from")
            if self.polish and self.budget is not None and self.reservoir > 0:
                self.polish_now()
        return self

    def _learn_block(
        self, X: Any, encoded: NDArray[Any], weights: NDArray[np.float64], settings: Settings
    ) -> None:
        """One pass over checked rows, some of which are remembered."""
        if hasattr(self, "_gram"):
            raise ValueError("partial_fit needs rows of numbers, and not objects: use fit")
        started, rng = perf_counter(), generator(self.random_state)
        targets = self._targets(encoded, weights)
        self._go_on(X, targets, settings)
        sample = self._sample()
        if sample is None and self.reservoir > 0:
            sample = Reservoir(int(self.reservoir), int(rng.integers(2**31)))
        seen = self._rows_seen + len(encoded)
        problem = replace(self._problem(X, targets), n_total=seen)
        plan = Plan(len(encoded), done=self._visits)
        # Where classes come one after the other, the bias of a classifier would run after them: it has none until a
        # polish has found one.
        if not self._bias_helps_terms and not self._expansion.bias.any():
            settings = replace(settings, intercept=False)
        self._learn(problem, plan, self._training(settings, rng, started))
        # Only now: rows that were not learned, because something went wrong, were not seen.
        self._rows_seen = seen
        self._origin = None
        self._reservoir = None if sample is None else sample.with_rows(X, encoded, weights)
        self.history_ = self.history_[-_RECORDS:]

    def _sample(self) -> Reservoir | None:
        """Return the rows that are remembered, as many as the parameter `reservoir` allows now."""
        if self._reservoir is None or self.reservoir == 0:
            return None
        return self._reservoir.with_capacity(int(self.reservoir))

    def _stream_settings(self) -> Settings:
        """Check all parameters, and complain about what a stream cannot do."""
        settings = self._settings()
        if self._takes_values:
            message = (
                "kernel='precomputed' needs the kernel values of all rows at once; partial_fit and fit_stream "
                "have a block at a time: use fit, or a kernel function k(X, Z)"
            )
            raise ValueError(message)
        self._check_stream()
        return settings

    def _check_stream(self) -> None:
        """Complain about options that a stream has no use for."""
        if self.early_stopping:
            message = (
                "early_stopping needs all rows at once, to go through them again and again; partial_fit "
                "and fit_stream go through a block once: set early_stopping=False"
            )
            raise ValueError(message)
        if not self._learns_terms:
            basis = repr(self.basis) if isinstance(self.basis, str) else "an array"
            message = (
                f"partial_fit and fit_stream learn their terms, and have no use for a basis (it is {basis}): "
                "set basis='learned'"
            )
            raise ValueError(message)


def _parts(block: Any) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights of a block; None for what it does not have."""
    several = isinstance(block, tuple) or (
        isinstance(block, list) and len(block) > 0 and _is_table(block[0])
    )
    parts = block if several else (block,)
    if not 1 <= len(parts) <= 3:
        message = f"a block must be (X, y) or (X, y, sample_weight), not {len(parts)} objects"
        raise ValueError(message)
    X, y, weights = (*parts, None, None)[:3]
    return X, y, weights


def _is_table(thing: Any) -> bool:
    """Whether this has rows with columns: an array, a sparse matrix, a data frame, a list of rows."""
    if isinstance(thing, list | tuple):
        return len(thing) > 0 and (isinstance(thing[0], list | tuple) or np.ndim(thing[0]) == 1)
    return len(getattr(thing, "shape", ())) == 2
