// SPDX-License-Identifier: BSD-3-Clause
// Where to put the term that replaces two with a row of coefficients each (Gaussian kernel only).
//
// With rows beta_a and beta_b, z = h z_a + (1 - h) z_b and E_a = k(z_a, z), E_b = k(z_b, z), the
// best row is beta = E_a beta_a + E_b beta_b, and the best h maximises its norm. In terms of the
// ratio of norms rho = |beta_a| / |beta_b| <= 1 and the cosine t between the rows, the degradation
// is
//     |beta_b|^2 (rho^2 (1 - E_a^2) + (1 - E_b^2) + 2 t rho (kappa - E_a E_b)),
// and its derivative vanishes where, L = -ln kappa = gamma |z_a - z_b|^2,
//     h / (1 - h) = q (q + t) / (1 + t q),   q = rho E_a / E_b = rho exp(-L (1 - 2 h)).
// t = 1 and t = -1 are the two cases of merge_point.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "maintenance/merge_point.hpp"

namespace budgetsvm {

// The best place for two rows, as for two numbers: merge_point.hpp.
struct JointPoint {
    double h, degradation;  // in units of |beta_b|^2
};

inline double joint_degradation(double rho, double t, double L, double h) {
    const double a = exp_less_one(-L * (1 - h) * (1 - h)), b = exp_less_one(-L * h * h);
    const double cross = -std::exp(-L) * exp_less_one(2 * L * h * (1 - h));
    return std::max(0.0, -rho * rho * a * (2 + a) - b * (2 + b) + 2 * t * rho * cross);
}

// The fixed point of h -> g(h) = q (q + t) / (1 + 2 t q + q^2) next to the heavier end: one iterate
// from h = 0, then Newton's method. Where g rises too fast for that it counts as less steep, and h
// creeps up to the fixed point without passing it.
inline JointPoint joint_merge_point(double rho, double t, double L, int iterations) {
    constexpr double steepest = 0.8;
    if (nothing_to_search(L))
        return {0, joint_degradation(rho, t, std::min(L, 2 * merge_horizon), 0)};
    const double reach = 1 / std::sqrt(2 * L);
    double h = 0;
    for (int i = 0; i < iterations; ++i) {
        const double q = rho * std::exp(-L * (1 - 2 * h));
        const double norm = std::max((1 - q) * (1 - q) + 2 * q * (1 + t), 1e-12);
        const double slope = 2 * L * q * (t * (1 + q * q) + 2 * q) / (norm * norm);
        const double missing = std::clamp(q * (q + t) / norm, -reach, 0.5) - h;
        const double step = i == 0 ? missing : missing / (1 - std::min(slope, steepest));
        h = std::clamp(h + step, -reach, 0.5);
        if (std::fabs(step) < 1e-7) break;
    }
    const double found = joint_degradation(rho, t, L, h), still = joint_degradation(rho, t, L, 0);
    return found < still ? JointPoint{h, found} : JointPoint{0, still};
}

// The same by golden section search. Rows that point to the same side have their best place between
// the points; others have it on either side of the heavier one, and both are searched.
inline JointPoint golden_joint_point(double rho, double t, double L) {
    if (nothing_to_search(L)) return joint_merge_point(rho, t, L, 0);
    JointPoint best{0, joint_degradation(rho, t, L, 0)};
    const auto search = [&](double low, double high) {
        const double h =
            golden_section([=](double at) { return -joint_degradation(rho, t, L, at); }, low, high);
        const double degradation = joint_degradation(rho, t, L, h);
        if (degradation < best.degradation) best = {h, degradation};
    };
    search(0, t < 0 ? 0.5 : 1);
    if (t < 0) search(-1 / std::sqrt(2 * L), 0);
    return best;
}

}  // namespace budgetsvm
