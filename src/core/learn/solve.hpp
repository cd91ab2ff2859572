// SPDX-License-Identifier: BSD-3-Clause
// The loop of all solvers, for one output; joint_solve.hpp has that for several. A solver is a
// class in a header of its own, which serves both. It says how coefficients are stored and what a
// step is:
// clang-format off
//     begin(r, C, diagonal, coupled)   a visit begins: number r of this call, to a point with this
//                                      C and k(x, x) = diagonal
//     value(stored)                    f(x) from that of the stored coefficients
//     scale()                          the same as a factor, where there are several outputs
//     step(loss, alpha, slack)         moves alpha; returns what to add to the coefficient, times y
//     degradation(stored)              ||dw||^2 from that of the stored coefficients
//     one_by_one                       whether a step sees those before it, of the same visit
// clang-format on
// A new one has its place in bindings/learn.cpp.
#pragma once

#include "learn/budgeted_model.hpp"

namespace budgetsvm {

// With BSCA this is Algorithm 1 of the paper.
template <class Solver, class T, class Maintenance>
Tally solve(const Visits& visits, BudgetedModel<T, Maintenance>& model, Solver solver) {
    Tally tally;
    model.walk(visits, [&](std::int64_t r, double stored) {
        const std::int64_t i = visits.order[r];
        solver.begin(r, visits.box[i], visits.diagonal[r], false);
        const double slack = visits.slack(i, solver.value(stored));  // line 5
        const double delta = visits.loss.visit([&](const auto& loss) {
            tally.count(loss, visits.target(i), slack);
            return solver.step(loss, visits.alpha[i], slack);  // line 6
        });
        if (delta == 0) return;
        // Line 9 of the paper inserts (delta, x_i); with f = sum beta k it must be y_i delta.
        tally.degradation +=
            solver.degradation(model.insert(visits, r, visits.y[i] * delta, tally));
    });
    return tally;
}

}  // namespace budgetsvm
