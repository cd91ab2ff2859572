// SPDX-License-Identifier: BSD-3-Clause
// Losses. Every loss here is a convex function phi of a row's *slack* u = target - sign * f(x):
//     hinge                 max(0, u)         sign = label, target = 1
//     squared hinge         max(0, u)^2       sign = label, target = 1
//     logistic              log(1 + exp(u))   sign = label, target = 0
//     epsilon-insensitive   max(0, |u| - eps) sign = 1,     target = what is to be predicted
// so that the dual problem is, phi* being the conjugate,
//     max_alpha  sum_i target_i alpha_i - C_i phi*(alpha_i / C_i)  -  1/2 ||w||^2,
//     w = sum_i alpha_i sign_i phi(x_i),
// and a solver needs to know of a loss no more than this file says. The Python side is losses.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace budgetsvm {

// A slack this close to where nothing is to be done is there: the point was visited just before.
// Without this, rounding would decide what counts as a step.
constexpr double rounding = 1e-12;

enum class LossKind { hinge, squared_hinge, logistic, epsilon_insensitive };

// As losses.py has them.
constexpr std::pair<const char*, LossKind> loss_names[] = {
    {"hinge", LossKind::hinge},
    {"squared_hinge", LossKind::squared_hinge},
    {"logistic", LossKind::logistic},
    {"epsilon_insensitive", LossKind::epsilon_insensitive},
};

struct Loss {
    LossKind kind;
    double epsilon;  // of the epsilon-insensitive loss; 0 for others
    // With the logistic loss all rows have a step to take, always. Where a step costs a term, those
    // are left out that are shorter than this share of C, and hardly change f(x).
    double shortest = 1e-3, hardly = 1e-2;

    double value(double u) const {
        switch (kind) {
            case LossKind::hinge:
                return std::max(0.0, u);
            case LossKind::squared_hinge:
                return u > 0 ? u * u : 0.0;
            case LossKind::logistic:
                return std::max(0.0, u) + std::log1p(std::exp(-std::fabs(u)));
            case LossKind::epsilon_insensitive:
                return std::max(0.0, std::fabs(u) - epsilon);
        }
        return no_such_loss;
    }

    // phi'(u)
    double slope(double u) const {
        switch (kind) {
            case LossKind::hinge:
                return u > 0 ? 1.0 : 0.0;
            case LossKind::squared_hinge:
                return u > 0 ? 2 * u : 0.0;
            case LossKind::logistic:
                return sigmoid(u);
            case LossKind::epsilon_insensitive:
                return u > epsilon ? 1.0 : u < -epsilon ? -1.0 : 0.0;
        }
        return no_such_loss;
    }

    // The slope for a step of gradient descent that moves u by `stiffness` (rate times k(x, x))
    // times the slope. A slope without bound overshoots where that is more than the slack itself,
    // worse with each visit: there it is the one *after* the step, phi'(u - stiffness * slope), the
    // implicit or proximal step (Kulis & Bartlett, ICML 2010).
    double bounded_slope(double u, double stiffness) const {
        switch (kind) {
            case LossKind::hinge:
            case LossKind::logistic:
            case LossKind::epsilon_insensitive:
                return slope(u);
            case LossKind::squared_hinge:
                return slope(u) / (1 + 2 * std::max(0.0, stiffness));
        }
        return no_such_loss;
    }

    // Whether there is a loss, up to rounding; with the logistic loss, where there always is,
    // whether the row is on the wrong side.
    bool violated(double u) const {
        const double need = kind == LossKind::epsilon_insensitive ? std::fabs(u) - epsilon : u;
        return need > rounding;
    }

    // Whether y f(x) <= 0; for regression there is no such thing.
    bool mistaken(double target, double u) const {
        return kind == LossKind::epsilon_insensitive ? violated(u) : target - u <= 0;
    }

    // The truncated Newton step (3), for any loss: alpha that maximises the dual along its
    // coordinate, where the slack is u and k(x, x) = curvature.
    double step(double alpha, double u, double curvature, double C) const {
        switch (kind) {
            case LossKind::hinge:
                return box_step(alpha, u, curvature, 0.0, C);
            case LossKind::squared_hinge:
                return squared_hinge_step(alpha, u, curvature, C);
            case LossKind::logistic:
                return logistic_step(alpha, u, curvature, C);
            case LossKind::epsilon_insensitive:
                return insensitive_step(alpha, u, curvature, C);
        }
        return no_such_loss;
    }

    // The largest |alpha|.
    double bound(double C) const {
        return kind == LossKind::squared_hinge ? std::numeric_limits<double>::infinity() : C;
    }

    // Which sign alpha has or, at 0, would take.
    double side(double alpha, double u) const {
        if (kind != LossKind::epsilon_insensitive) return 1.0;
        return alpha < 0 || (alpha == 0 && u < 0) ? -1.0 : 1.0;
    }

    // The derivative of the dual in that direction; with the logistic loss, where it is unbounded,
    // how much is missing to alpha, as a share of C.
    double gradient(double alpha, double u, double C) const {
        switch (kind) {
            case LossKind::hinge:
                return u;
            case LossKind::squared_hinge:
                return u - alpha / (2 * C);
            case LossKind::logistic:
                return sigmoid(u) - alpha / C;
            case LossKind::epsilon_insensitive:
                return side(alpha, u) * u - epsilon;
        }
        return no_such_loss;
    }

  private:
    // Behind a switch that names all losses: not reached, but the compiler wants a value.
    static constexpr double no_such_loss = 0;

    static double sigmoid(double u) {
        return u > 0 ? 1 / (1 + std::exp(-u)) : std::exp(u) / (1 + std::exp(u));
    }

    // A kernel that is not positive definite can have curvature <= 0; the maximum is then at an end
    // of the box.
    static double box_step(double alpha, double gradient, double curvature, double low,
                           double high) {
        if (std::fabs(gradient) <= rounding) return alpha;
        if (curvature > rounding) return std::clamp(alpha + gradient / curvature, low, high);
        return gradient > 0 ? high : low;
    }

    // Without an upper bound there may be no maximum, where the curvature is negative.
    static double squared_hinge_step(double alpha, double u, double curvature, double C) {
        const double gradient = u - alpha / (2 * C), whole = curvature + 1 / (2 * C);
        if (std::fabs(gradient) <= rounding || !(whole > 0)) return alpha;
        return std::max(0.0, alpha + gradient / whole);
    }

    // -eps |alpha| has a kink at 0: on either side of it, another linear term (Ho & Lin 2012).
    double insensitive_step(double alpha, double u, double curvature, double C) const {
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

    // With alpha = C sigmoid(z) the maximum is where z = u - curvature (alpha - alpha_before), a
    // falling function against a rising one; Newton's method within the bracket (Yu, Huang & Lin
    // 2011).
    double logistic_step(double alpha, double u, double curvature, double C) const {
        const double q = std::max(0.0, curvature), top = u + q * alpha;
        double low = top - q * C, high = top, z = std::clamp(u, low, high);
        for (int i = 0; i < 50 && high - low > 1e-12 * (1 + std::fabs(z)); ++i) {
            const double share = sigmoid(z), excess = top - q * C * share - z;
            (excess > 0 ? low : high) = z;
            const double newton = z + excess / (1 + q * C * share * (1 - share));
            if (std::fabs(newton - z) <= 1e-12 * (1 + std::fabs(z))) break;
            z = newton > low && newton < high ? newton : 0.5 * (low + high);
        }
        const double target = C * sigmoid(z), step = std::fabs(target - alpha);
        return step <= shortest * C && step * q <= hardly ? alpha : target;
    }
};

}  // namespace budgetsvm
