"""Learning from a stream: rows come in blocks, and are not kept but for a sample of them."""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from budgetsvm._atomic import all_or_nothing
from budgetsvm._data import generator
from budgetsvm._machine import BudgetMachine
from budgetsvm._reservoir import Reservoir

_RECORDS = 1000  # of history_ that are kept: a stream may have any number of blocks


class StreamingMachine(BudgetMachine):
    """A machine with ``partial_fit``, which subclasses define by `_learn_block`."""

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
        started = perf_counter()
        self._settings()
        if self._reservoir is None or self._reservoir.size == 0:
            message = (
                "there are no rows to polish with: polish_now works after partial_fit, with "
                f"reservoir > 0 (it is {self.reservoir})"
            )
            raise ValueError(message)
        if self._reservoir.seen < self._rows_seen:
            message = (
                f"polish_now has a sample of the last {self._reservoir.seen} rows only, but the model has "
                f"seen {self._rows_seen}: use partial_fit from the start, with reservoir > 0; or fit"
            )
            raise ValueError(message)
        if self.budget is None or len(self._expansion) == 0:
            return self
        X, encoded, weights = self._reservoir.rows()
        # Every row of the sample stands for several of the stream.
        outputs = self._outputs(encoded, weights * (self._reservoir.seen / len(weights)))
        self._polish(self._problem(X, outputs), generator(self.random_state), started)
        return self

    @all_or_nothing
    def fit_stream(self, blocks: Iterable[Any], **parameters: Any) -> Self:
        """Train from scratch on blocks of rows, in one pass and bounded memory; then polish.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, sample_weight)
            The data, e.g. :func:`budgetsvm.streams.read_blocks`. Where there is no y, X alone will do.
        **parameters
            For ``partial_fit``: `classes`, where the first block may lack some.

        Returns
        -------
        self : object
        """
        self.__dict__.pop("_expansion", None)
        for block in blocks:
            X, y, weights = _parts(block)
            weighted = {} if weights is None else {"sample_weight": weights}
            self.partial_fit(X, y, **parameters, **weighted)
        if not hasattr(self, "_expansion"):
            raise ValueError("the stream has no rows: there is nothing to learn from")
        if self.polish and self.budget is not None and self.reservoir > 0:
            self.polish_now()
        return self

    def _learn_block(self, X: Any, encoded: NDArray[Any], weights: NDArray[np.float64]) -> None:
        """One pass over checked rows, some of which are remembered."""
        rng = generator(self.random_state)
        outputs = self._outputs(encoded, weights)
        self._go_on(X, outputs.count)
        if self._reservoir is None and self.reservoir > 0:
            self._reservoir = Reservoir(self.reservoir, int(rng.integers(2**31)))
        if self._reservoir is not None:
            self._reservoir.add(X, encoded, weights)
        self._rows_seen += len(encoded)
        self._learn(self._problem(X, outputs), len(encoded), rng)
        self.history_ = self.history_[-_RECORDS:]


def _parts(block: Any) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights of a block; None for what it does not have."""
    parts = block if isinstance(block, tuple) else (block,)
    if not 1 <= len(parts) <= 3:
        message = f"a block must be (X, y) or (X, y, sample_weight), not {len(parts)} objects"
        raise ValueError(message)
    X, y, weights = (*parts, None, None)[:3]
    return X, y, weights
