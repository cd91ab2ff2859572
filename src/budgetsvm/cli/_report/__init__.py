"""``budgetsvm report``: all there is to say about a model, as a page."""

from budgetsvm.cli._report.command import command

__all__ = ["command"]
