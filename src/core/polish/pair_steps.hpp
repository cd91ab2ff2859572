// SPDX-License-Identifier: BSD-3-Clause
// Steps of two variables at a time on the dual of a machine with a bias that costs nothing:
//     max_beta  sum_i target_i beta_i - eps |beta_i| - 1/2 sum_ij beta_i beta_j k_ij,
//     lower_i <= beta_i <= upper_i,  sum_i beta_i = 0,
// where eps = 0 and one of the bounds is 0 for the hinge loss (beta_i = alpha_i y_i, target_i =
// y_i). The residual of row i is target_i - f_i; at beta_i = 0 the derivative where beta_i grows,
// residual_i - eps, and that where it falls differ by 2 eps. A step keeps the sum: the variable
// with the steepest ascent moves, and the one that promises most beside it (Fan, Chen & Lin, JMLR
// 2005).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "leaf/leaf.hpp"

namespace budgetsvm {

// The derivatives of all variables, and who has the largest of those that may grow, and the least
// of those that may fall.
class Slopes {
  public:
    explicit Slopes(std::int32_t size) : size_(size) {
        const auto room = static_cast<std::size_t>(padded(size, lanes<double>));
        descents_.resize(room, never), downhill_.resize(room, never);
    }

    void look_at(const Variables& v) {
        leaf<double>().slopes(v, size_, never, descents_.data(), downhill_.data());
        up_ = leaf<double>().nearest(descents_.data(), size_, nullptr);
        const std::int32_t down = leaf<double>().nearest(downhill_.data(), size_, nullptr);
        highest_ = -descents_[static_cast<std::size_t>(up_)];
        lowest_ = downhill_[static_cast<std::size_t>(down)];
    }

    std::int32_t up() const { return up_; }
    double highest() const { return highest_; }
    double lowest() const { return lowest_; }
    double violation() const { return highest_ - lowest_; }
    // Derivatives, the first one with the other sign; infinite where a variable must not move, and
    // up to whole panels.
    const double* descents() const { return descents_.data(); }
    const double* downhill() const { return downhill_.data(); }

  private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    std::int32_t size_, up_ = 0;
    double highest_ = -never, lowest_ = never;  // as yet nobody has looked
    std::vector<double> descents_, downhill_;
};

// A set of `size` rows with kernel values `gram`, and the steps on it.
template <class T>
class PairSteps {
  public:
    PairSteps(const T* gram, const Variables& v, std::int32_t size)
        : gram_(gram), v_(v), size_(size), slopes_(size) {
        const auto n = static_cast<std::size_t>(size);
        diagonal_.resize(n), losses_.resize(n), known_.assign(n, 0), inverse_.resize(n * n);
        for (std::int32_t i = 0; i < size; ++i) diagonal_[i] = row(i)[i];
    }

    // Climbs until the violation is within the precision, at most so many steps; returns their
    // number.
    std::int64_t climb(double precision, std::int64_t most_steps) {
        for (std::int64_t step = 0; step < most_steps; ++step) {
            slopes_.look_at(v_);
            if (!(slopes_.violation() > precision)) return step;
            const std::int32_t up = slopes_.up();
            const T* inverse = inverse_curvatures(up);
            const std::int32_t down = leaf<T>().most_promising(
                slopes_.highest(), slopes_.downhill(), inverse, size_, losses_.data());
            if (!(losses_[down] < 0)) return step;
            move(up, down, (slopes_.highest() - slopes_.downhill()[down]) / curvature(up, down));
        }
        return most_steps;
    }

  private:
    static constexpr double flattest = 1e-12;

    std::int64_t start(std::int32_t i) const { return static_cast<std::int64_t>(i) * size_; }
    const T* row(std::int32_t i) const { return gram_ + start(i); }
    double curvature(std::int32_t i, std::int32_t j) const {
        const double crossed = row(i)[j];
        return std::max(static_cast<double>(diagonal_[i]) + diagonal_[j] - 2 * crossed, flattest);
    }

    // 1 / curvature(i, j) for all j. The same few rows are asked for again and again.
    const T* inverse_curvatures(std::int32_t i) {
        T* inverse = inverse_.data() + start(i);
        if (!known_[i])
            leaf<T>().inverse_curvatures(row(i), diagonal_.data(), diagonal_[i], size_, inverse);
        known_[i] = 1;
        return inverse;
    }

    // How far a variable may go before its bound, or 0, where the derivative changes.
    double highest(std::int32_t i) const {
        return v_.beta[i] < 0 ? std::min(0.0, v_.upper[i]) : v_.upper[i];
    }
    double lowest(std::int32_t i) const {
        return v_.beta[i] > 0 ? std::max(0.0, v_.lower[i]) : v_.lower[i];
    }

    void move(std::int32_t up, std::int32_t down, double newton) {
        const double room_up = highest(up) - v_.beta[up];
        const double room_down = v_.beta[down] - lowest(down);
        const double change = std::min({newton, room_up, room_down});
        // Bounds are reached to the last bit: what is at one is left alone.
        v_.beta[up] = change == room_up ? highest(up) : v_.beta[up] + change;
        v_.beta[down] = change == room_down ? lowest(down) : v_.beta[down] - change;
        leaf<T>().exchange(change, row(up), row(down), size_, v_.residual);
    }

    const T* gram_;
    Variables v_;
    std::int32_t size_;
    Slopes slopes_;
    std::vector<T> diagonal_, inverse_;
    std::vector<double> losses_;
    std::vector<char> known_;  // rows of `inverse_`
};

}  // namespace budgetsvm
