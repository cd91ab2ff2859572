"""
Probabilities that mean what they say
=====================================

Of all days for which rain is forecast with 70 %, it should rain on seven of ten. The hinge loss of an SVM aims at decisions,
not at probabilities: its values have to be calibrated, at the cost of some more fits. The logistic loss gives
probabilities as it is.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from budgetsvm import BudgetSVC
from budgetsvm.plots import plot_calibration

ROWS = 20_000  # quick: 800
X, y = make_moons(ROWS, noise=0.5, random_state=0)
X, X_test, y, y_test = X[::2], X[1::2], y[::2], y[1::2]

# %%
# On the dashed line, what is predicted is what comes. On the left, the values of the hinge loss are no probabilities at all.

hinge = BudgetSVC(budget=50, random_state=0)
models = {
    "hinge loss: decision values": hinge,
    "hinge loss, calibrated": CalibratedClassifierCV(hinge, cv=3),
    'loss="log_loss"': BudgetSVC(loss="log_loss", budget=50, random_state=0),
}
figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for (title, model), ax in zip(models.items(), panels, strict=True):
    plot_calibration(model.fit(X, y), X_test, y_test, ax=ax)
    ax.set_title(title)
    if hasattr(model, "predict_proba"):
        print(f"{title}: log-loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")
