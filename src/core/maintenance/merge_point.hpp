// SPDX-License-Identifier: BSD-3-Clause
// Where to put the term that replaces two, under the Gaussian kernel.
//
// Merging the lighter term a into the heavier b, with rho = beta_a / beta_b in [-1, 1] and
// L = gamma ||z_a - z_b||^2 = -ln k(z_a, z_b), puts
//     z = h z_a + (1 - h) z_b,   beta = beta_b v(h),
//     v(h) = rho exp(-L (1 - h)^2) + exp(-L h^2),
// and costs the degradation ||dw||^2 = beta_b^2 (rho^2 + 1 + 2 rho exp(-L) - v(h)^2). The best h
// maximises v^2. For rho > 0 it lies in [0, 1/2], for rho < 0 it is negative: the new term moves
// away from the one that it is to cancel.
#pragma once

#include <algorithm>
#include <cmath>

namespace budgetsvm {

struct MergePoint {
    double h;
    double value;        // v(h)
    double degradation;  // in units of beta_b^2
};

// Beyond merge_horizon two terms do not see each other; below merge_identity they are the same
// point.
constexpr double merge_horizon = 600, merge_identity = 1e-14;

inline bool nothing_to_search(double L) { return !(L > merge_identity && L < merge_horizon); }

inline double merge_value(double rho, double L, double h) {
    return rho * std::exp(-L * (1 - h) * (1 - h)) + std::exp(-L * h * h);
}

// exp(x) - 1. The arguments of a merge are mostly tiny, where a few terms of the series will do.
inline double exp_less_one(double x) {
    if (std::fabs(x) > 0.02) return std::expm1(x);
    const double square = x * x;  // pairs of terms do not wait for each other
    const double high = (1.0 / 24 + x / 120) + square * (1.0 / 720);
    return x + square * ((1.0 / 2 + x / 6) + square * high);
}

// The degradation is rho^2 (1 - k_a^2) + (1 - k_b^2) + 2 rho (kappa - k_a k_b), k_a = k(z_a, z) and
// k_b = k(z_b, z): the same as above, but accurate for terms close to each other, too.
inline MergePoint merge_point_at(double rho, double L, double kappa, double h) {
    const double a = exp_less_one(-L * (1 - h) * (1 - h)), b = exp_less_one(-L * h * h);
    const double cross = -kappa * exp_less_one(2 * L * h * (1 - h));
    const double degradation = -rho * rho * a * (2 + a) - b * (2 + b) + 2 * rho * cross;
    return {h, rho * (1 + a) + (1 + b), std::max(0.0, degradation)};
}

// For rho < 0 the optimum lies in [-merge_reach(rho, L), 0].
inline double merge_reach(double rho, double L) {
    const double c = -rho * std::exp(-L);
    return std::min(c < 1 ? c / (1 - c) : 1 / std::sqrt(2 * L), 1 / std::sqrt(2 * L));
}

// The best h solves h / (1 - h) = rho exp(-L (1 - 2h)). With u = |h|, s = sign(rho) and c = |rho|
// exp(-L) that is u = c (1 - s u) exp(2 s L u), which is nearly linear where L c is small: the
// usual case, and needs no logarithm. Halley's method, as the second derivative costs next to
// nothing: one or two steps.
inline bool nearly_linear(double s, double c, double L) {
    return s > 0 ? L * c < 0.05 : (1 + 2 * L) * c < 0.25;
}
inline double nearly_linear_root(double s, double c, double L) {
    // Where the exponential is taken at the root for L = 0, and by its series.
    const double first = 2 * s * L * c / (1 + s * c), tilted = c * (1 + first * (1 + 0.5 * first));
    double u = tilted / (1 + s * tilted);
    for (int iteration = 0; iteration < 20; ++iteration) {
        const double growth = c * (1 + exp_less_one(2 * s * L * u)), far = L * (1 - s * u);
        const double value = u - growth * (1 - s * u), slope = 1 + s * growth * (1 - 2 * far);
        const double curvature = 4 * L * growth * (1 - far);
        const double step = -2 * value * slope / (2 * slope * slope - value * curvature);
        u += step;
        if (std::fabs(step) <= 3e-4 * u) break;  // convergence is cubic: the next is nothing
    }
    return u;
}

// Otherwise Newton's method on the logarithms,
//     phi(u) = ln u - ln(1 - s u) - ln|rho| + L (1 - 2 s u) = 0.
// phi is concave and increasing left of its first root, so that Newton's iterates grow towards that
// root without ever passing it, from any start on its left. The first root is the maximum next to
// the heavier end; the roots beyond (for rho > 0 and L > 2) are a minimum and a lesser maximum.
inline double logarithmic_root(double rho, double s, double c, double L) {
    double u = c / (1 + c);
    if (s < 0) {
        const double q = c * std::exp(-2 * L * merge_reach(rho, L));
        u = q / (1 - q);
    }
    const double target = std::log(std::fabs(rho)) - L;
    for (int iteration = 0; iteration < 60; ++iteration) {
        const double phi = std::log(u / (1 - s * u)) - target - 2 * s * L * u;
        const double slope = 1 / (u * (1 - s * u)) - 2 * s * L;
        if (!(slope > 0)) break;  // rho = 1, L = 2: the three roots coincide
        const double step = -phi / slope;
        u += step;
        if (std::fabs(step) <= 3e-7 * u) break;
    }
    return u;
}

inline MergePoint newton_merge_point(double rho, double L) {
    L = std::min(L, 2 * merge_horizon);  // infinity times zero is no distance
    const double kappa = std::exp(-L), s = rho < 0 ? -1 : 1, c = std::fabs(rho) * kappa;
    if (nothing_to_search(L) || !(c > 1e-300)) return merge_point_at(rho, L, kappa, 0);
    const double u =
        nearly_linear(s, c, L) ? nearly_linear_root(s, c, L) : logarithmic_root(rho, s, c, L);
    return merge_point_at(rho, L, kappa, s * u);
}

// exp(-a) - exp(-b) without cancellation or overflow, a, b >= 0
inline double exp_difference(double a, double b) {
    return a < b ? -std::exp(-a) * std::expm1(a - b) : std::exp(-b) * std::expm1(b - a);
}

// The place of a maximum of `value` between low and high, by golden section search. Where there are
// two maxima it finds one of them, not always the higher.
template <class Value>
double golden_section(Value value, double low, double high) {
    const double ratio = 0.5 * (std::sqrt(5.0) - 1);
    double left = high - ratio * (high - low), right = low + ratio * (high - low);
    double at_left = value(left), at_right = value(right);
    while (high - low > 1e-6 * std::max(1.0, std::fabs(low))) {
        if (at_left > at_right) {
            high = right, right = left, at_right = at_left;
            left = high - ratio * (high - low), at_left = value(left);
        } else {
            low = left, left = right, at_left = at_right;
            right = low + ratio * (high - low), at_right = value(right);
        }
    }
    return 0.5 * (low + high);
}

// As in the paper: on [0, 1] for equal signs. Beyond L = 600 the two terms do not see each other.
inline MergePoint golden_merge_point(double rho, double L) {
    L = std::min(L, 2 * merge_horizon);
    const double kappa = std::exp(-L);
    if (nothing_to_search(L)) return merge_point_at(rho, L, kappa, 0);
    const double low = rho < 0 ? -merge_reach(rho, L) : 0.0, high = rho < 0 ? 0.0 : 1.0;
    const double h = golden_section([=](double at) { return merge_value(rho, L, at); }, low, high);
    return merge_point_at(rho, L, kappa, h);
}

}  // namespace budgetsvm
