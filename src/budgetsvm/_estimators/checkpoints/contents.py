"""What is in a checkpoint: of which run it is, and its state. Nothing in a file is believed."""

from dataclasses import dataclass
from typing import Any, Literal

from budgetsvm._common.files.records import FileKind, from_bytes, to_bytes
from budgetsvm._common.records import Fields, Record
from budgetsvm._model.snapshot import check_plain, library

CHECKPOINT = FileKind("budgetsvm checkpoint", "a checkpoint of budgetsvm")
#: Of the format. There are no upgrades: a run is finished by the version that has begun it.
VERSION = 2
_DIGITS, _LARGEST_SEED = 64, (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class Contents:
    """A run, and how far it is."""

    kind: Literal["fit", "stream"]
    parameters: dict[str, str]  #: all that decide on the model, as texts
    data: str  #: a digest; of a stream, of what was learned of it
    seed: int | None  #: that was drawn for a run without a random_state
    seconds: float  #: that the run took
    state: Record  #: checked by whoever goes on from it

    def to_bytes(self) -> list[bytes | memoryview]:
        """Return the parts of a file."""
        record = {"version": VERSION, "library": library(), **self.__dict__}
        return to_bytes(record, CHECKPOINT)


def load_checkpoint(buffer: bytes | memoryview, where: str) -> Contents:
    """Return the contents of a file; whatever is wrong with it is said in a ValueError that names it."""
    record = from_bytes(buffer, where, CHECKPOINT)
    check_plain(record, where)
    fields = Fields(record, where)
    version, writer = fields.count("version"), fields.scalar("library")
    if version != VERSION:
        fields.fail(
            "version",
            f"is {version}, of budgetsvm {writer!s:.40}; this budgetsvm reads {VERSION} only",
        )
    if writer != library():
        fields.fail(
            "library", f"is {writer!s:.40}; this budgetsvm is {library()}, and may lead elsewhere"
        )
    contents = Contents(
        kind=fields.choice("kind", ("fit", "stream")),  # type: ignore[arg-type]
        parameters=_texts(fields, "parameters"),
        data=_digest(fields, "data"),
        seed=fields.optional(lambda name: int(fields.count(name, most=_LARGEST_SEED)), "seed"),
        seconds=float(fields.number("seconds", at_least=0)),
        state=_record(fields, "state"),
    )
    fields.end()
    return contents


def _texts(fields: Fields, name: str) -> dict[str, str]:
    value = _record(fields, name)
    if not all(isinstance(text, str) for text in value.values()):
        fields.fail(name, "must have texts in it")
    return value


def _record(fields: Fields, name: str) -> dict[str, Any]:
    value = fields.take(name)
    if not isinstance(value, dict):
        fields.fail(name, "must be a record")
    return value


def _digest(fields: Fields, name: str) -> str:
    value = fields.take(name)
    if not (isinstance(value, str) and len(value) == _DIGITS):
        fields.fail(name, f"must be {_DIGITS} digits")
    return value
