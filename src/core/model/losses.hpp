// SPDX-License-Identifier: BSD-3-Clause
// Losses. Every loss here is a convex function phi of a row's *slack* u = target - sign * f(x):
//     hinge                 max(0, u)         sign = label, target = 1
//     squared hinge         max(0, u)^2       sign = label, target = 1
//     logistic              log(1 + exp(u))   sign = label, target = 0
//     epsilon-insensitive   max(0, |u| - eps) sign = 1,     target = what is to be predicted
// so that the dual problem is, phi* being the conjugate,
//     max_alpha  sum_i target_i alpha_i - C_i phi*(alpha_i / C_i)  -  1/2 ||w||^2,
//     w = sum_i alpha_i sign_i phi(x_i),
// and a solver needs to know of a loss no more than its struct says. The Python side is losses.py.
// A new loss is a struct here and its place in the list at the end.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/choices.hpp"

namespace budgetsvm {

// A slack this close to where nothing is to be done is there: the point was visited just before.
// Without this, rounding would decide what counts as a step.
constexpr double rounding = 1e-12;

struct LossParameters {
    double epsilon;  // 0 for losses that have none
};

// The maximum of a concave parabola over [low, high], from alpha. A kernel that is not positive
// definite can have curvature <= 0; the maximum is then at an end of the box.
inline double box_step(double alpha, double gradient, double curvature, double low, double high) {
    if (std::fabs(gradient) <= rounding) return alpha;
    if (curvature > rounding) return std::clamp(alpha + gradient / curvature, low, high);
    return gradient > 0 ? high : low;
}

// What most losses have in common. A loss itself says
//     value(u)      phi(u)
//     slope(u)      phi'(u)
//     exact_step    the truncated Newton step (3), for any loss: the alpha that maximises the dual
//                   along its coordinate, where the slack is u and k(x, x) = curvature
//     gradient      the derivative of the dual in the direction of `side`
template <class Self>
struct LossDefaults {
    explicit LossDefaults(const LossParameters&) {}

    // Whether it also stands for the problem of Weston & Watkins (learn/joint_solve.hpp).
    static constexpr bool couples_classes = false;

    // The slope for a step of gradient descent that moves u by `stiffness` (rate times k(x, x))
    // times the slope: a bounded one.
    double bounded_slope(double u, double) const { return derived().slope(u); }

    // The step where it costs a term, so that some are not worth it.
    double step(double alpha, double u, double curvature, double C) const {
        return derived().exact_step(alpha, u, curvature, C);
    }

    // Whether there is a loss, up to rounding.
    bool violated(double u) const { return u > rounding; }

    // Whether y f(x) <= 0.
    bool mistaken(double target, double u) const { return target - u <= 0; }

    // The largest |alpha|.
    double bound(double C) const { return C; }

    // Which sign alpha has or, at 0, would take.
    double side(double, double) const { return 1.0; }

  private:
    const Self& derived() const { return static_cast<const Self&>(*this); }
};

struct Hinge : LossDefaults<Hinge> {
    static constexpr const char* name = "hinge";
    static constexpr bool couples_classes = true;
    using LossDefaults::LossDefaults;

    double value(double u) const { return std::max(0.0, u); }
    double slope(double u) const { return u > 0 ? 1.0 : 0.0; }
    double exact_step(double alpha, double u, double curvature, double C) const {
        return box_step(alpha, u, curvature, 0.0, C);
    }
    double gradient(double, double u, double) const { return u; }
};

struct SquaredHinge : LossDefaults<SquaredHinge> {
    static constexpr const char* name = "squared_hinge";
    using LossDefaults::LossDefaults;

    double value(double u) const { return u > 0 ? u * u : 0.0; }
    double slope(double u) const { return u > 0 ? 2 * u : 0.0; }

    // A slope without bound overshoots where the step is more than the slack itself, worse with
    // each visit: there it is the one *after* the step, phi'(u - stiffness * slope), the implicit
    // or proximal step (Kulis & Bartlett, ICML 2010).
    double bounded_slope(double u, double stiffness) const {
        return slope(u) / (1 + 2 * std::max(0.0, stiffness));
    }

    // Without an upper bound there may be no maximum, where the curvature is negative.
    double exact_step(double alpha, double u, double curvature, double C) const {
        const double uphill = gradient(alpha, u, C), whole = curvature + 1 / (2 * C);
        if (std::fabs(uphill) <= rounding || !(whole > 0)) return alpha;
        return std::max(0.0, alpha + uphill / whole);
    }
    double gradient(double alpha, double u, double C) const { return u - alpha / (2 * C); }
    double bound(double) const { return std::numeric_limits<double>::infinity(); }
};

// There always is a loss: a row counts as violated if it is on the wrong side.
struct Logistic : LossDefaults<Logistic> {
    static constexpr const char* name = "logistic";
    using LossDefaults::LossDefaults;

    double value(double u) const { return std::max(0.0, u) + std::log1p(std::exp(-std::fabs(u))); }
    double slope(double u) const { return sigmoid(u); }

    // With alpha = C sigmoid(z) the maximum is where z = u - curvature (alpha - alpha_before), a
    // falling function against a rising one; Newton's method within the bracket (Yu, Huang & Lin
    // 2011).
    double exact_step(double alpha, double u, double curvature, double C) const {
        const double q = std::max(0.0, curvature), top = u + q * alpha;
        double low = top - q * C, high = top, z = std::clamp(u, low, high);
        for (int i = 0; i < 50 && high - low > 1e-12 * (1 + std::fabs(z)); ++i) {
            const double share = sigmoid(z), excess = top - q * C * share - z;
            (excess > 0 ? low : high) = z;
            const double newton = z + excess / (1 + q * C * share * (1 - share));
            if (std::fabs(newton - z) <= 1e-12 * (1 + std::fabs(z))) break;
            z = newton > low && newton < high ? newton : 0.5 * (low + high);
        }
        return C * sigmoid(z);
    }

    // All rows have a step to take, always. Those are left out that are shorter than this share of
    // C, and hardly change f(x).
    double step(double alpha, double u, double curvature, double C) const {
        constexpr double shortest = 1e-3, hardly = 1e-2;
        const double target = exact_step(alpha, u, curvature, C), moved = std::fabs(target - alpha);
        return moved <= shortest * C && moved * std::max(0.0, curvature) <= hardly ? alpha : target;
    }

    // The derivative is unbounded: how much is missing to alpha, as a share of C.
    double gradient(double alpha, double u, double C) const { return sigmoid(u) - alpha / C; }

  private:
    static double sigmoid(double u) {
        return u > 0 ? 1 / (1 + std::exp(-u)) : std::exp(u) / (1 + std::exp(u));
    }
};

struct EpsilonInsensitive : LossDefaults<EpsilonInsensitive> {
    static constexpr const char* name = "epsilon_insensitive";
    double epsilon;

    explicit EpsilonInsensitive(const LossParameters& parameters)
        : LossDefaults(parameters), epsilon(parameters.epsilon) {}

    double value(double u) const { return std::max(0.0, std::fabs(u) - epsilon); }
    double slope(double u) const { return u > epsilon ? 1.0 : u < -epsilon ? -1.0 : 0.0; }

    // -eps |alpha| has a kink at 0: on either side of it, another linear term (Ho & Lin 2012).
    double exact_step(double alpha, double u, double curvature, double C) const {
        const double pull = u + std::max(0.0, curvature) * alpha;  // at alpha = 0
        if (pull > epsilon) {
            const double start = std::max(0.0, alpha);
            return box_step(start, u + curvature * (alpha - start) - epsilon, curvature, 0.0, C);
        }
        if (pull < -epsilon) {
            const double start = std::min(0.0, alpha);
            return box_step(start, u + curvature * (alpha - start) + epsilon, curvature, -C, 0.0);
        }
        return 0.0;
    }
    double gradient(double alpha, double u, double) const { return side(alpha, u) * u - epsilon; }
    double side(double alpha, double u) const {
        return alpha < 0 || (alpha == 0 && u < 0) ? -1.0 : 1.0;
    }

    bool violated(double u) const { return std::fabs(u) - epsilon > rounding; }
    bool mistaken(double, double u) const { return violated(u); }  // regression has no other
};

using Losses = Choices<Hinge, SquaredHinge, Logistic, EpsilonInsensitive>;

}  // namespace budgetsvm
