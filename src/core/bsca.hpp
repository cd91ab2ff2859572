// SPDX-License-Identifier: BSD-3-Clause
// BSCA, budgeted stochastic coordinate ascent: Algorithm 1 of the paper. It works on the dual
// problem (loss.hpp; for the hinge loss)
//     max_{0 <= alpha_i <= C_i}  1'alpha - 1/2 alpha'Q alpha,   Q_ij = y_i y_j k(x_i, x_j),
// one coordinate at a time, with the budgeted model in place of sum_j alpha_j y_j k(x_j, .).
// Without a budget it is stochastic coordinate ascent (SCA).
#pragma once

#include "expansion.hpp"

namespace budgetsvm {

template <class T, class Maintenance>
Tally bsca(const Visits& visits, Expansion<T, Maintenance>& model) {
    Tally tally;
    model.walk(visits, [&](std::int64_t r, double value) {
        const std::int64_t i = visits.order[r];
        const double slack = visits.slack(i, value);  // line 5
        tally.count(visits, i, slack);
        const double alpha = visits.loss.step(visits.alpha[i], slack, visits.diagonal[r],
                                              visits.box[i]);  // line 6
        const double delta = alpha - visits.alpha[i];
        if (delta == 0) return;
        visits.alpha[i] = alpha;
        // Line 9 of the paper inserts (delta, x_i); with f = sum beta k it must be y_i delta.
        tally.degradation += model.insert(visits, r, visits.y[i] * delta, tally);
    });
    return tally;
}

}  // namespace budgetsvm
