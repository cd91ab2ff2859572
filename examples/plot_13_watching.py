"""
Watching a fit
==============

A ``Trace`` writes down how a fit goes: both objectives, the score on test rows, and what the solver does. The fit is the same
without it, to the last bit.

While terms are learned, the objectives are far apart; then the polish closes the gap between them, and that is the certificate.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC
from budgetsvm.monitoring import Trace

ROWS = 10_000  # quick: 1_000
X, y = make_moons(ROWS, noise=0.25, random_state=0)
X_test, y_test = make_moons(5_000, noise=0.25, random_state=1)

# %%
# It looks every 500 visits, and throughout the polish.

trace = Trace(every=500, X_test=X_test, y_test=y_test)
model = BudgetSVC(C=10, gamma=2, budget=50, random_state=0, monitor=trace).fit(X, y)
seen = model.monitor_  # what watched this fit; `trace` itself stays empty, for the next one
print(f"relative gap {model.duality_gap_:.4f}, {seen.observations[-1].score:.1%} right")

# %%
# ``plot_trace(model)`` draws all of it at once; here are the two panels that matter most.

figure, (objectives, score) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
begin = seen["seconds"][seen["phase"] == "polish"].min()
objectives.plot(seen["seconds"], seen["primal"], ".-", label="primal objective P")
objectives.plot(seen["seconds"], seen["dual"], ".-", label="dual objective D")
objectives.set(yscale="log", ylim=(50, None), xlabel="seconds", title="Both objectives")
score.plot(seen["seconds"], 100 * seen["score"], ".-", c="C2")
score.set(xlabel="seconds", title="Test accuracy, %")
for ax in (objectives, score):
    ax.axvline(begin, c="grey", ls=":")
    ax.text(begin, 0.02, " polish", transform=ax.get_xaxis_transform(), c="grey")
_ = objectives.legend(loc="lower right")
