// SPDX-License-Identifier: BSD-3-Clause
// BSGD, budgeted stochastic gradient descent: eq. (4) of the paper,
//     w <- (1 - 1/t) w + 1{y f(x) < 1} (n C_i / t) y phi(x)   in iteration t = 1, 2, ...
// Without a budget it is kernel Pegasos.
//
// Lazy scaling: the product of the factors (1 - 1/t) telescopes, so that with coefficients stored
// as t times their value the shrinking is free: f = (sum of stored) / (t - 1) at the start of
// iteration t, and a violation adds n C_i y. The same holds for alpha. The caller divides by t at
// the end.
#pragma once

#include <algorithm>

#include "expansion.hpp"

namespace budgetsvm {

// `t` iterations are done already; n_total is the n in the learning rate.
template <class T, class Maintenance>
Tally bsgd(const Visits<T>& visits, Expansion<T, Maintenance>& model, std::int64_t t,
           double n_total) {
    Tally tally;
    for (std::int64_t r = 0; r < visits.count; ++r, ++t) {
        const std::int64_t i = visits.order[r];
        const Row<T> x = visits.rows[r];
        const double y = visits.y[i], norm = model.kernel.norm(x);
        const double margin = t > 0 ? y * model.value(x, norm) / static_cast<double>(t) : 0;
        tally.violations += margin < 1;
        tally.mistakes += margin <= 0;
        tally.loss += std::max(0.0, 1 - margin);
        const double gain = n_total * visits.box[i];
        if (!(margin < 1) || gain == 0) continue;
        visits.alpha[i] += gain;
        const double t_now = static_cast<double>(t + 1);
        tally.degradation += model.insert(visits, r, norm, y * gain, tally) / (t_now * t_now);
    }
    return tally;
}

}  // namespace budgetsvm
