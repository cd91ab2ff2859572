// SPDX-License-Identifier: BSD-3-Clause
// BSCA, budgeted stochastic coordinate ascent: Algorithm 1 of the paper. It works on the dual
// problem (model/losses.hpp; for the hinge loss)
//     max_{0 <= alpha_i <= C_i}  1'alpha - 1/2 alpha'Q alpha,   Q_ij = y_i y_j k(x_i, x_j),
// one coordinate at a time, with the budgeted model in place of sum_j alpha_j y_j k(x_j, .).
// Without a budget it is stochastic coordinate ascent (SCA).
#pragma once

#include <cstdint>

namespace budgetsvm {

class Bsca {
  public:
    static constexpr bool one_by_one = true;

    // Two coefficients move with a coupled variable, and its curvature is 2 k(x, x).
    void begin(std::int64_t, double C, double diagonal, bool coupled) {
        C_ = C;
        curvature_ = (coupled ? 2 : 1) * diagonal;
    }

    double value(double stored) const { return stored; }
    double scale() const { return 1; }
    double degradation(double stored) const { return stored; }

    // Line 6.
    template <class Loss, class Variable>
    double step(const Loss& loss, Variable& alpha, double slack) const {
        const double before = alpha;
        alpha = static_cast<Variable>(loss.step(before, slack, curvature_, C_));
        return alpha - before;
    }

  private:
    double C_ = 0, curvature_ = 0;
};

}  // namespace budgetsvm
