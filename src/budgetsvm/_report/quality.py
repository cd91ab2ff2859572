"""The section of how good the model is on the rows of the report, and the figures at the top of the page."""

import numpy as np
from numpy.typing import NDArray

from budgetsvm._diagnosis.subject import Subject
from budgetsvm._problem.r_squared import r_squared
from budgetsvm._report.html import Html, element, join, note, section
from budgetsvm._report.numbers import share, short
from budgetsvm._report.picture import Pictures
from budgetsvm.plots._calibration import draw_calibration, draw_targets, told_and_came
from budgetsvm.plots._confusion import MOST, draw_confusion

_TITLES = {
    (True, False): "Confusion and calibration",
    (False, True): "Calibration",
    (False, False): "Confusion",
}
_WITHOUT = "The model has no probabilities, but decision values: loss='log_loss' or CalibratedClassifierCV make probabilities."


def figures(subject: Subject) -> list[tuple[str, str]]:
    """Return the most important numbers, with words for them."""
    y, found = subject.y, subject.predicted
    if subject.classifies:
        return _of_classes(subject)
    if subject.regresses:
        assert y is not None
        if found.ndim > 1:
            each = r_squared(y, found, multioutput="raw_values")
            return [
                (short(float(each.mean())), "R², mean over targets"),
                (short(float(each.min())), "R², the least"),
            ]
        error = np.abs(found - y).mean()
        rows = len(subject) > 1
        return [
            (short(float(r_squared(y, found))) if rows else "–", "R²"),
            (short(float(error), 3), "mean absolute error"),
            (short(_root_mean_square(found - y), 3), "root mean squared error"),
        ]
    inside = [(share(float((found > 0).mean())), "of the rows are like those of training")]
    if y is None:
        return inside
    return [*inside, (share(float((found == y).mean())), "accuracy")]


def _root_mean_square(errors: NDArray[np.float64]) -> float:
    """Return it for errors of any size, whose squares may be none."""
    largest = float(np.abs(errors).max()) or 1.0
    return largest * float(np.sqrt(((errors / largest) ** 2).mean()))


def _of_classes(subject: Subject) -> list[tuple[str, str]]:
    y, found = subject.y, subject.predicted
    assert y is not None
    labels, codes = np.unique(y, return_inverse=True)
    right = found == y
    recalls = [right[codes == k].mean() for k in range(len(labels))]
    commonest = np.bincount(codes).max() / len(codes)
    return [
        (share(float(right.mean())), "accuracy"),
        (share(float(np.mean(recalls))), "balanced accuracy"),
        (share(float(commonest)), "are of the commonest class"),
    ]


def quality_section(subject: Subject, pictures: Pictures) -> Html:
    """Return confusion and calibration."""
    parts, remark = [], join()
    if subject.classifies or (subject.y is not None and not subject.regresses):
        parts.append(_confusion(subject, pictures))
    if subject.classifies:
        told, came, words = told_and_came(subject.machine, subject.given, np.asarray(subject.y))
        drawn = draw_calibration([("", told, came)], words)
        parts.append(
            pictures.svg(
                drawn.figure, f"Calibration: {words[1]} over {words[0]}, ± 2 standard errors."
            )
        )
        remark = join() if hasattr(subject.machine, "predict_proba") else note(_WITHOUT)
    elif subject.regresses:
        drawn = draw_targets(np.asarray(subject.y), subject.predicted)
        parts.append(
            pictures.svg(
                drawn.figure, "Calibration: mean target over prediction, ± 2 standard errors."
            )
        )
    if not parts:
        return join()
    return section(
        "quality",
        _TITLES[subject.classifies, subject.regresses],
        element("div", *parts, class_="columns"),
        remark,
    )


def _confusion(subject: Subject, pictures: Pictures) -> Html:
    count = len(np.union1d(np.asarray(subject.y), subject.predicted))
    if count > MOST:
        return note(f"{count} classes are too many for a picture of their confusion.")
    drawn = draw_confusion(subject.y, subject.predicted)
    return pictures.svg(
        drawn.figure, "Confusion: how many rows of each label got which prediction."
    )
