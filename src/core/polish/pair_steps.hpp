// SPDX-License-Identifier: BSD-3-Clause
// Steps of two variables at a time on the dual of a machine with a bias that costs nothing:
//     max_beta  sum_i target_i beta_i - eps |beta_i| - 1/2 sum_ij beta_i beta_j k_ij,
//     lower_i <= beta_i <= upper_i,  sum_i beta_i = 0,
// where eps = 0 and one of the bounds is 0 for the hinge loss (beta_i = alpha_i y_i, target_i =
// y_i). A step keeps the sum: the variable with the steepest ascent moves, and the one that
// promises most beside it (Fan, Chen & Lin, JMLR 2005).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace budgetsvm {

// The variables of some rows, and what is left of the targets.
struct Variables {
    double *beta, *residual;      // residual_i = target_i - f_i
    const double *lower, *upper;  // of beta
    double epsilon;

    // The derivative where beta_i grows, and where it falls: at 0 they differ by 2 eps.
    double uphill(std::int32_t i) const { return residual[i] - (beta[i] < 0 ? -epsilon : epsilon); }
    double downhill(std::int32_t i) const {
        return residual[i] - (beta[i] > 0 ? epsilon : -epsilon);
    }
    bool may_grow(std::int32_t i) const { return beta[i] < upper[i]; }
    bool may_fall(std::int32_t i) const { return beta[i] > lower[i]; }
    // How far it may go before its bound, or 0, where the derivative changes.
    double highest(std::int32_t i) const {
        return beta[i] < 0 ? std::min(0.0, upper[i]) : upper[i];
    }
    double lowest(std::int32_t i) const { return beta[i] > 0 ? std::max(0.0, lower[i]) : lower[i]; }
};

// The best of those that may grow, and of those that may fall.
struct Extremes {
    double up = -std::numeric_limits<double>::infinity();
    double down = std::numeric_limits<double>::infinity();
    std::int32_t best = -1;  // that has `up`

    double violation() const { return up - down; }
};

inline Extremes extremes(const Variables& v, std::int32_t size) {
    Extremes found;
    for (std::int32_t i = 0; i < size; ++i) {
        if (v.may_grow(i) && v.uphill(i) > found.up) found.up = v.uphill(i), found.best = i;
        if (v.may_fall(i)) found.down = std::min(found.down, v.downhill(i));
    }
    return found;
}

// Climbs on a set of `size` rows with kernel values `gram` until the violation is within the
// precision, at most so many steps; returns their number.
inline std::int64_t climb_in_pairs(const double* gram, const Variables& v, std::int32_t size,
                                   double precision, std::int64_t most_steps) {
    constexpr double flattest = 1e-12;
    const auto row = [&](std::int32_t i) { return gram + static_cast<std::int64_t>(i) * size; };
    for (std::int64_t step = 0; step < most_steps; ++step) {
        const Extremes found = extremes(v, size);
        if (!(found.violation() > precision)) return step;
        const std::int32_t up = found.best;
        const double* values = row(up);
        std::int32_t down = -1;
        double most = 0;
        for (std::int32_t i = 0; i < size; ++i) {
            const double ascent = found.up - v.downhill(i);
            if (!v.may_fall(i) || ascent <= 0) continue;
            const double curvature = values[up] + row(i)[i] - 2 * values[i];
            const double promise = ascent * ascent / std::max(curvature, flattest);
            if (promise > most) most = promise, down = i;
        }
        if (down < 0) return step;
        const double* others = row(down);
        const double curvature = values[up] + others[down] - 2 * values[down];
        const double newton = (found.up - v.downhill(down)) / std::max(curvature, flattest);
        const double room_up = v.highest(up) - v.beta[up];
        const double room_down = v.beta[down] - v.lowest(down);
        const double change = std::min({newton, room_up, room_down});
        // Bounds are reached to the last bit: what is at one is left alone.
        v.beta[up] = change == room_up ? v.highest(up) : v.beta[up] + change;
        v.beta[down] = change == room_down ? v.lowest(down) : v.beta[down] - change;
        for (std::int32_t i = 0; i < size; ++i) v.residual[i] -= change * (values[i] - others[i]);
    }
    return most_steps;
}

}  // namespace budgetsvm
