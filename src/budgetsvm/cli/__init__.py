"""The command line: ``budgetsvm <command>``, or ``python -m budgetsvm <command>``."""

from budgetsvm.cli._main import main

__all__ = ["main"]
