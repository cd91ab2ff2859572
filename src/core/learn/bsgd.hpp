// SPDX-License-Identifier: BSD-3-Clause
// BSGD, budgeted stochastic gradient descent: eq. (4) of the paper,
//     w <- (1 - 1/t) w + 1{y f(x) < 1} (n C_i / t) y phi(x)   in iteration t = 1, 2, ...
// for the hinge loss; for others its slope takes the place of 1{y f(x) < 1}, a bounded one where
// the slope is not: see model/losses.hpp.
// Without a budget it is kernel Pegasos.
//
// Lazy scaling: the product of the factors (1 - 1/t) telescopes, so that with coefficients stored
// as t times their value the shrinking is free: f = (sum of stored) / (t - 1) at the start of
// iteration t, and a violation adds n C_i y. The same holds for alpha. The caller divides by t at
// the end.
#pragma once

#include <cstdint>

namespace budgetsvm {

class Bsgd {
  public:
    static constexpr bool one_by_one = false;

    // `t` iterations are done already; n_total is the n in the learning rate.
    Bsgd(std::int64_t t, double n_total) : t_(t), n_total_(n_total) {}

    void begin(std::int64_t r, double C, double diagonal, bool) {
        before_ = static_cast<double>(t_ + r);
        now_ = before_ + 1;
        rate_ = n_total_ * C;
        stiffness_ = rate_ / now_ * diagonal;
    }

    double value(double stored) const { return before_ > 0 ? stored / before_ : 0; }
    double scale() const { return before_ > 0 ? 1 / before_ : 0; }
    double degradation(double stored) const { return stored / (now_ * now_); }

    template <class Loss>
    double step(const Loss& loss, double& alpha, double slack) const {
        const double gain = rate_ * loss.bounded_slope(slack, stiffness_);
        alpha += gain;
        return gain;
    }

    // The variables of several outputs are not kept: nobody asks for them.
    template <class Loss>
    double step(const Loss& loss, float&, double slack) const {
        return rate_ * loss.bounded_slope(slack, stiffness_);
    }

  private:
    std::int64_t t_;
    double n_total_;
    double before_ = 0, now_ = 1, rate_ = 0, stiffness_ = 0;
};

}  // namespace budgetsvm
