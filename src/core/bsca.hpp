// SPDX-License-Identifier: BSD-3-Clause
// BSCA, budgeted stochastic coordinate ascent: Algorithm 1 of the paper. It works on the dual
// problem
//     max_{0 <= alpha_i <= C_i}  1'alpha - 1/2 alpha'Q alpha,   Q_ij = y_i y_j k(x_i, x_j),
// one coordinate at a time, with the budgeted model in place of sum_j alpha_j y_j k(x_j, .).
// Without a budget it is stochastic coordinate ascent (SCA).
#pragma once

#include <algorithm>

#include "expansion.hpp"

namespace budgetsvm {

// The truncated Newton step (3): argmax over [0, C] of the dual along coordinate i. A kernel that
// is not positive definite can have curvature <= 0; the maximum is then at an end of the box.
inline double box_step(double alpha, double gradient, double curvature, double C) {
    if (curvature > 1e-12) return std::clamp(alpha + gradient / curvature, 0.0, C);
    return gradient > 0 ? C : gradient < 0 ? 0.0 : alpha;
}

template <class T, class Maintenance>
Tally bsca(const Visits& visits, Expansion<T, Maintenance>& model) {
    Tally tally;
    model.walk(visits, [&](std::int64_t r, double value) {
        const std::int64_t i = visits.order[r];
        const double y = visits.y[i], margin = y * value;  // line 5
        tally.count(margin);
        if (std::fabs(1 - margin) <= rounding) return;
        const double alpha = box_step(visits.alpha[i], 1 - margin, visits.diagonal[r],
                                      visits.box[i]);  // line 6
        const double delta = alpha - visits.alpha[i];
        if (delta == 0) return;
        visits.alpha[i] = alpha;
        // Line 9 of the paper inserts (delta, x_i); with f = sum beta k it must be y_i delta.
        tally.degradation += model.insert(visits, r, y * delta, tally);
    });
    return tally;
}

}  // namespace budgetsvm
