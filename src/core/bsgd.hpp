// SPDX-License-Identifier: BSD-3-Clause
// BSGD, budgeted stochastic gradient descent: eq. (4) of the paper,
//     w <- (1 - 1/t) w + 1{y f(x) < 1} (n C_i / t) y phi(x)   in iteration t = 1, 2, ...
// for the hinge loss; for others its slope takes the place of 1{y f(x) < 1}, a bounded one where
// the slope is not: see loss.hpp.
// Without a budget it is kernel Pegasos.
//
// Lazy scaling: the product of the factors (1 - 1/t) telescopes, so that with coefficients stored
// as t times their value the shrinking is free: f = (sum of stored) / (t - 1) at the start of
// iteration t, and a violation adds n C_i y. The same holds for alpha. The caller divides by t at
// the end.
#pragma once

#include "expansion.hpp"

namespace budgetsvm {

// `t` iterations are done already; n_total is the n in the learning rate.
template <class T, class Maintenance>
Tally bsgd(const Visits& visits, Expansion<T, Maintenance>& model, std::int64_t t, double n_total) {
    Tally tally;
    model.walk(visits, [&](std::int64_t r, double value) {
        const std::int64_t i = visits.order[r];
        const double before = static_cast<double>(t + r), now = before + 1;
        const double slack = visits.slack(i, before > 0 ? value / before : 0);
        tally.count(visits, i, slack);
        const double rate = n_total * visits.box[i];
        const double gain =
            rate * visits.loss.bounded_slope(slack, rate / now * visits.diagonal[r]);
        if (gain == 0) return;
        visits.alpha[i] += gain;
        tally.degradation += model.insert(visits, r, visits.y[i] * gain, tally) / (now * now);
    });
    return tally;
}

}  // namespace budgetsvm
