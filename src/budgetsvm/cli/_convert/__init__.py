"""``budgetsvm convert``: a model in another format, or with fewer terms."""

from budgetsvm.cli._convert.command import command

__all__ = ["command"]
