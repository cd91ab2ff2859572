"""``budgetsvm scale``: LIBSVM's svm-scale, range files included."""

from budgetsvm.cli._scale.command import command

__all__ = ["command"]
