"""
What a merge does
=================

A model on a budget has no room for another term. The cheapest way to make some is to replace two terms
:math:`\\beta_a k(\\cdot, z_a) + \\beta_b k(\\cdot, z_b)` by a single one. Of the Gaussian kernel, the best point for it lies on
the line through both, :math:`z = h z_a + (1 - h) z_b`, and the best coefficient follows from *h*.

What gets lost is the *degradation* :math:`\\|\\Delta w\\|^2`, a distance between functions.
"""

import matplotlib.pyplot as plt
import numpy as np


def gaussian(x, z):
    """Return k(x, z) with gamma = 1."""
    return np.exp(-((x - z) ** 2))


def merged(weight_a, weight_b, distance, h):
    """Return the best coefficient at h, and what gets lost, for terms at 0 and `distance`."""
    k = np.exp(-(distance**2))
    weight = weight_a * k ** ((1 - h) ** 2) + weight_b * k ** (h**2)
    lost = weight_a**2 + weight_b**2 + 2 * weight_a * weight_b * k - weight**2
    return weight, lost


# %%
# Two terms near each other become one, and hardly anybody notices (left). The farther apart they are, the more gets lost
# (middle); beyond a kernel value of about :math:`e^{-2}` the best "merge" just drops the smaller one. That is what a partner is
# chosen by: of all terms, the one with which least gets lost.

h = np.linspace(0, 1, 501)
figure, (near, lines, loss) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")

x = np.linspace(-2.5, 3.5, 400)
heavy, light, distance = 1.0, 0.6, 0.9
weight, lost = merged(heavy, light, distance, h)
best = lost.argmin()
near.plot(x, heavy * gaussian(x, 0), ":", c="C0", label="two terms")
near.plot(x, light * gaussian(x, distance), ":", c="C0")
near.plot(x, heavy * gaussian(x, 0) + light * gaussian(x, distance), c="C0", label="their sum")
near.plot(x, weight[best] * gaussian(x, (1 - h[best]) * distance), "--", c="C1", label="one term")
near.set(title=f"Merging at h = {h[best]:.2f}", xlabel="x", ylim=(0, 2.1))
near.legend(loc="upper right")

for distance in (0.5, 1.0, 1.5, 2.0):
    lost = merged(heavy, light, distance, h)[1]
    (line,) = lines.plot(h, lost, label=f"distance {distance}")
    lines.plot(h[lost.argmin()], lost.min(), "o", c=line.get_color())
lines.set(title="What gets lost, by h", xlabel="h", ylim=(0, None))
lines.legend()

distances = np.linspace(0, 3, 200)
for other, name in ((0.6, "same sign"), (-0.6, "opposite signs")):
    loss.plot(
        distances, [merged(heavy, other, d, h)[1].min() for d in distances], label=f"merged, {name}"
    )
loss.axhline(0.6**2, c="grey", ls=":", label="the smaller one removed")
loss.set(title="What gets lost, by distance", xlabel="distance", ylim=(0, None))
_ = loss.legend()
