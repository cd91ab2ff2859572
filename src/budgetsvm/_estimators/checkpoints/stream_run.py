"""Runs of fit_stream that leave checkpoints, or go on from one."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from budgetsvm._common.random_states import put_back, random_record, source_like
from budgetsvm._common.records import Fields
from budgetsvm._estimators.checkpoints.fingerprint import Digest
from budgetsvm._estimators.checkpoints.fit_run import Run, begun

_RANDOM = (np.random.Generator, np.random.RandomState)


class StreamRun(Run):
    """A run of fit_stream: keeps the estimator, between two blocks."""

    kind = "stream"

    def unlearned(self, machine: Any, blocks: Iterable[Any]) -> Iterator[Any]:
        """Give those of all blocks that were not learned yet; the estimator becomes what the others made of it."""
        digest, count, known = Digest(), 0, self._blocks_known()
        for count, parts in enumerate(blocks, start=1):
            for part in parts:
                digest.add(part)
            if count > known:
                yield parts
                # By now it has learned them.
                self._keep(machine, count, digest, first=count == 1)
            elif count == known:
                self._restore(machine, digest)
        if count < known:
            self.file.refuse(f"is of another stream: of {known} blocks at least, and not {count}")

    def _blocks_known(self) -> int:
        blocks = [0]

        def read(fields: Fields) -> None:
            blocks[0] = int(fields.count("blocks", least=1))

        self.read(read)
        return blocks[0]

    def _keep(self, machine: Any, count: int, digest: Digest, *, first: bool) -> None:
        from budgetsvm._estimators.snapshots import snapshot_of  # which knows all estimators

        due = self.file.due()
        if not (first or due):
            return
        try:
            snapshot = snapshot_of(machine)
        except ValueError as error:  # at the first block
            message = f"there can be no checkpoint of this stream: {error}; or leave out checkpoint"
            raise ValueError(message) from error
        if due:
            source = machine.random_state
            random = random_record(source) if isinstance(source, _RANDOM) else None
            state = {"blocks": count, "machine": snapshot, "random": random}
            self.write(digest.text(), state)

    def _restore(self, machine: Any, digest: Digest) -> None:
        """Make an estimator what it was, with its source of random numbers."""
        assert self.found is not None
        if digest.text() != self.found.data:
            self.file.refuse("is of another stream: the blocks that it has learned differ")
        self.read(lambda fields: _restore_machine(machine, fields))


def _restore_machine(machine: Any, fields: Fields) -> None:
    from budgetsvm._estimators.snapshots import machine_of

    fields.take("blocks")
    other, own, before = machine_of(fields.take("machine")), machine.random_state, None
    if isinstance(own, _RANDOM):
        before = source_like(own, fields.inside("random"))
    else:
        fields.optional(lambda name: fields.fail(name, "must be None"), "random")
    fields.end()
    if type(other) is not type(machine):
        fields.fail("machine", f"must be a {type(machine).__name__}")
    if before is not None:
        put_back(own, before)
    machine._forget_certificate()
    names = set(machine._get_param_names())
    machine.__dict__.update({k: v for k, v in vars(other).items() if k not in names})


class _NoRun:
    """Stands for the run of a call without a checkpoint."""

    def unlearned(self, machine: Any, blocks: Iterable[Any]) -> Iterable[Any]:  # noqa: ARG002
        """Give all blocks."""
        return blocks


@contextmanager
def stream_run(
    machine: Any, checkpoint: Any, every: Any, others: dict[str, Any]
) -> Iterator[StreamRun | _NoRun]:
    """Give what leaves checkpoints of a stream, if they are wanted."""
    with begun(StreamRun, machine, checkpoint, every, others) as run:
        yield _NoRun() if run is None else run
