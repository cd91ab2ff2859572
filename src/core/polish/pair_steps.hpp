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
#include <vector>

namespace budgetsvm {

// The variables of some rows, and what is left of the targets.
struct Variables {
    double *beta, *residual;      // residual_i = target_i - f_i
    const double *lower, *upper;  // of beta
    double epsilon;

    // The derivative where beta_i grows, and where it falls: at 0 they differ by 2 eps.
    double uphill(std::int32_t i) const { return residual[i] + rise(i); }
    double downhill(std::int32_t i) const { return residual[i] + fall(i); }
    double rise(std::int32_t i) const { return beta[i] < 0 ? epsilon : -epsilon; }
    double fall(std::int32_t i) const { return beta[i] > 0 ? -epsilon : epsilon; }
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

// A set of `size` rows with kernel values `gram`, and the steps on it.
class PairSteps {
  public:
    PairSteps(const double* gram, const Variables& v, std::int32_t size)
        : gram_(gram), v_(v), size_(size) {
        const auto n = static_cast<std::size_t>(size);
        diagonal_.resize(n), rise_.resize(n), fall_.resize(n), promises_.resize(n);
        for (std::int32_t i = 0; i < size; ++i) diagonal_[i] = row(i)[i], look_at(i);
    }

    // Climbs until the violation is within the precision, at most so many steps; returns their
    // number.
    std::int64_t climb(double precision, std::int64_t most_steps) {
        for (std::int64_t step = 0; step < most_steps; ++step) {
            const auto [up, highest, lowest] = steepest();
            if (!(highest - lowest > precision)) return step;
            const std::int32_t down = best_beside(up, highest);
            if (!(promises_[down] > 0)) return step;
            const double newton = (highest - v_.downhill(down)) / curvature(up, down);
            move(up, down, newton);
        }
        return most_steps;
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double flattest = 1e-12;

    const double* row(std::int32_t i) const { return gram_ + static_cast<std::int64_t>(i) * size_; }
    double curvature(std::int32_t i, std::int32_t j) const {
        return std::max(diagonal_[i] + diagonal_[j] - 2 * row(i)[j], flattest);
    }

    // What its derivatives are beside the residual: infinite where it must not move.
    void look_at(std::int32_t i) {
        rise_[i] = v_.may_grow(i) ? v_.rise(i) : -infinity;
        fall_[i] = v_.may_fall(i) ? v_.fall(i) : infinity;
    }

    struct Steepest {
        std::int32_t up;
        double highest, lowest;
    };

    Steepest steepest() const {
        const double *residual = v_.residual, *rise = rise_.data(), *fall = fall_.data();
        Steepest found{0, -infinity, infinity};
        for (std::int32_t i = 0; i < size_; ++i) {
            const double up = residual[i] + rise[i];
            found.up = up > found.highest ? i : found.up;
            found.highest = std::max(found.highest, up);
            found.lowest = std::min(found.lowest, residual[i] + fall[i]);
        }
        return found;
    }

    // The one that promises most if it falls while `up` grows.
    std::int32_t best_beside(std::int32_t up, double highest) {
        const double *values = row(up), *residual = v_.residual, *fall = fall_.data(),
                     *diagonal = diagonal_.data();
        double* promises = promises_.data();
        const double own = diagonal[up];
        for (std::int32_t i = 0; i < size_; ++i) {
            const double ascent = std::max(highest - (residual[i] + fall[i]), 0.0);
            const double curvature = std::max(own + diagonal[i] - 2 * values[i], flattest);
            promises[i] = ascent * ascent / curvature;
        }
        return static_cast<std::int32_t>(std::max_element(promises, promises + size_) - promises);
    }

    void move(std::int32_t up, std::int32_t down, double newton) {
        const double room_up = v_.highest(up) - v_.beta[up];
        const double room_down = v_.beta[down] - v_.lowest(down);
        const double change = std::min({newton, room_up, room_down});
        // Bounds are reached to the last bit: what is at one is left alone.
        v_.beta[up] = change == room_up ? v_.highest(up) : v_.beta[up] + change;
        v_.beta[down] = change == room_down ? v_.lowest(down) : v_.beta[down] - change;
        const double *values = row(up), *others = row(down);
        double* residual = v_.residual;
        for (std::int32_t i = 0; i < size_; ++i) residual[i] -= change * (values[i] - others[i]);
        look_at(up), look_at(down);
    }

    const double* gram_;
    Variables v_;
    std::int32_t size_;
    std::vector<double> diagonal_, rise_, fall_, promises_;
};

}  // namespace budgetsvm
