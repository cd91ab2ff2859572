// SPDX-License-Identifier: BSD-3-Clause
// The example of docs/losses.md: what a new loss says to the core.
#pragma once

#include "model/losses.hpp"

namespace budgetsvm {

struct SquaredEpsilonInsensitive : LossDefaults<SquaredEpsilonInsensitive> {
    static constexpr const char* name = "squared_epsilon_insensitive";
    EpsilonInsensitive plain;

    explicit SquaredEpsilonInsensitive(const LossParameters& parameters)
        : LossDefaults(parameters), plain(parameters) {}

    double value(double u) const { return plain.value(u) * plain.value(u); }
    double slope(double u) const { return 2 * plain.slope(u) * plain.value(u); }

    // This slope has no bound: as for the squared hinge, gradient descent must not overshoot.
    double bounded_slope(double u, double stiffness) const {
        return slope(u) / (1 + 2 * std::max(0.0, stiffness));
    }

    // The square adds alpha / 2C to the gradient, and 1 / 2C to the curvature.
    double exact_step(double alpha, double u, double curvature, double C) const {
        const double whole = curvature + 1 / (2 * C), pull = u + curvature * alpha;
        if (!(whole > 0)) return alpha;  // no bound, and no maximum
        const double best = std::copysign(plain.value(pull), pull) / whole;
        return std::fabs(best - alpha) * whole <= rounding ? alpha : best;
    }
    double gradient(double alpha, double u, double C) const {
        return plain.gradient(alpha, u, C) - std::fabs(alpha) / (2 * C);
    }
    double bound(double) const { return std::numeric_limits<double>::infinity(); }
    double side(double alpha, double u) const { return plain.side(alpha, u); }
    bool violated(double u) const { return plain.violated(u); }
    bool mistaken(double target, double u) const { return plain.mistaken(target, u); }
};

}  // namespace budgetsvm
