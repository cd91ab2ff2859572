// SPDX-License-Identifier: BSD-3-Clause
// Two classes in the span of some terms, with the hinge loss and a bias that costs nothing, for
// many pairs of classes that share their orthonormal features: rounds of coordinate ascent
// (ascent.hpp) on the rows that may move, until the gap is small enough. The rows of each class
// follow each other. The last feature is a constant, and what its coefficient is drawn to moves on
// after every round, as in _polish/ascent.py, which has the theory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "evaluate/passes.hpp"
#include "model/losses.hpp"
#include "polish/ascent.hpp"
#include "polish/class_range.hpp"
#include "polish/gap_scale.hpp"

namespace budgetsvm {

template <class T>
struct ClassRows {
    const T* features;   // (n, width), row-major; the last one is constant
    const T* curvature;  // ||g_i||^2
    const double* box;   // C_i
    std::int64_t n;
    std::int32_t width;
};

// What is wanted of a pair: coordinates of the best model, and of the best dual point with alpha.
struct SpanSolution {
    double *w, *point;  // (width)
    double* alpha;      // of the rows of the first class, then of the second
    double primal = 0, dual = 0, scale = 0;
    std::int64_t passes = 0;
};

template <class T>
class SpanPair {
  public:
    SpanPair(const ClassRows<T>& rows, ClassRange first, ClassRange second)
        : rows_(rows),
          count_(first.end - first.begin + second.end - second.begin),
          first_(first.end - first.begin) {
        const auto n = static_cast<std::size_t>(count_),
                   width = static_cast<std::size_t>(rows.width);
        members_.resize(n);
        std::iota(members_.begin(), members_.begin() + first_, first.begin);
        std::iota(members_.begin() + first_, members_.end(), second.begin);
        y_.resize(n), f_.resize(n), change_.resize(n), w_.assign(width, T(0)),
            point_.assign(width, 0.0);
        double costs[2] = {0, 0};
        for (std::size_t k = 0; k < n; ++k) {
            const bool is_first = k < static_cast<std::size_t>(first_);
            y_[k] = is_first ? 1.0 : -1.0;
            costs[is_first ? 0 : 1] += rows.box[members_[k]];
        }
        total_ = costs[0] + costs[1];
        of_first_ = costs[0];
        scale_ = {std::min({total_, 2 * costs[0], 2 * costs[1]}), 0.0};
    }

    // `alpha`, `y` and `targets` have room for all rows of all classes; alpha is 0 for these.
    void solve(double* alpha, double* y, const double* targets, double goal,
               std::int64_t most_rounds, std::uint64_t seed, SpanSolution& best) {
        for (std::size_t k = 0; k < y_.size(); ++k) y[members_[k]] = y_[k];
        best.primal = total_, best.dual = 0;
        double precision = 0.3;
        begin_with_nearest();
        for (std::int64_t round = 0; round < most_rounds; ++round, precision *= 0.3) {
            const LinearProblem<T> problem{rows_.features, rows_.curvature, y,         targets,
                                           rows_.box,      alpha,           w_.data(), rows_.width};
            constexpr double infinity = std::numeric_limits<double>::infinity();
            const auto active = static_cast<std::int64_t>(active_.size());
            const Passes passes =
                ascend_until(Hinge(LossParameters{0}), problem, active_.data(), active,
                             Passes{0, active, {infinity, -infinity}}, precision, most_passes,
                             Shuffler(seed + static_cast<std::uint64_t>(round)));
            best.passes += passes.done + 2;
            evaluate(alpha, best);
            best.scale = scale_(best.primal, best.dual);
            if (best.primal - best.dual <= goal * best.scale) return;
            go_on_with_violators(alpha, precision);
        }
    }

    const std::vector<std::int64_t>& members() const { return members_; }

  private:
    static constexpr std::int64_t most_passes = 40;

    // Few rows are support vectors, most of them among those of a class that are nearest to the
    // other one, as seen along the line through the means of both.
    void begin_with_nearest() {
        for (std::size_t k = 0; k < y_.size(); ++k)
            change_[k] = y_[k] / static_cast<double>(y_[k] > 0 ? first_ : count_ - first_);
        add_rows_of(change_, point_);
        times(chosen(), point_.data(), f_.data());
        activate_nearest(0, first_);
        activate_nearest(first_, count_);
    }

    void activate_nearest(std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t one_of = 4, fewest = 32;
        const std::int64_t n = end - begin, most = std::min(n, std::max(n / one_of, fewest));
        by_margin_.clear();
        for (std::int64_t k = begin; k < end; ++k) by_margin_.push_back({y_[k] * f_[k], k});
        std::nth_element(by_margin_.begin(), by_margin_.begin() + (most - 1), by_margin_.end());
        for (std::int64_t k = 0; k < most; ++k) active_.push_back(members_[by_margin_[k].second]);
    }

    // All but those that a gradient larger than the margin holds at their bound.
    void go_on_with_violators(const double* alpha, double margin) {
        active_.clear();
        for (std::size_t k = 0; k < f_.size(); ++k) {
            const std::int64_t i = members_[k];
            const double slack = 1 - y_[k] * f_[k];
            if (alpha[i] > 0 ? alpha[i] < rows_.box[i] || slack < margin : slack > -margin)
                active_.push_back(i);
        }
    }

    ChosenRows<T> chosen() const { return {rows_.features, members_.data(), count_, rows_.width}; }

    double squared_norm(const std::vector<double>& v) const {  // without the constant
        return std::inner_product(v.begin(), v.end() - 1, v.begin(), 0.0);
    }

    // sums += sum_k factors_k g_k over the rows whose factor is not zero.
    void add_rows_of(const std::vector<double>& factors, std::vector<double>& sums) {
        some_.clear(), factors_.clear();
        for (std::size_t k = 0; k < factors.size(); ++k) {
            if (factors[k] == 0) continue;
            some_.push_back(members_[k]), factors_.push_back(factors[k]);
        }
        const auto count = static_cast<std::int64_t>(some_.size());
        const ChosenRows<T> rows{rows_.features, some_.data(), count, rows_.width};
        add_transposed_times(rows, factors_.data(), sums.data());
    }

    void evaluate(const double* alpha, SpanSolution& best) {
        std::vector<double> beta(y_.size());
        for (std::size_t k = 0; k < beta.size(); ++k) beta[k] = y_[k] * alpha[members_[k]];
        std::fill(point_.begin(), point_.end(), 0.0);
        add_rows_of(beta, point_);
        multiplier_ += point_.back();
        point_.back() += multiplier_;
        times(chosen(), point_.data(), f_.data());
        const double shift = best_shift();
        double cost = 0;
        for (std::size_t k = 0; k < beta.size(); ++k)
            cost += rows_.box[members_[k]] * std::max(0.0, 1 - y_[k] * (f_[k] + shift));
        const double primal = 0.5 * squared_norm(point_) + cost;
        if (primal < best.primal) {
            best.primal = primal;
            std::copy(point_.begin(), point_.end(), best.w);
            best.w[rows_.width - 1] +=
                shift / rows_.features[members_[0] * rows_.width + rows_.width - 1];
        }
        for (std::size_t k = 0; k < w_.size(); ++k) w_[k] = static_cast<T>(point_[k]);
        balance(beta, shift);
        double gain = 0;
        for (std::size_t k = 0; k < beta.size(); ++k) gain += y_[k] * beta[k];
        std::vector<double> moved = point_;
        for (std::size_t k = 0; k < beta.size(); ++k)
            change_[k] = beta[k] - y_[k] * alpha[members_[k]];
        add_rows_of(change_, moved);
        const double dual = gain - 0.5 * squared_norm(moved);
        if (dual > best.dual) {
            best.dual = dual;
            std::copy(moved.begin(), moved.end() - 1, best.point);
            best.point[rows_.width - 1] = 0;
            for (std::size_t k = 0; k < beta.size(); ++k) best.alpha[k] = y_[k] * beta[k];
        }
    }

    // The constant by which values should be larger, for the least loss; of a stretch, the middle.
    double best_shift() {
        kinks_.clear();
        for (std::size_t k = 0; k < y_.size(); ++k)
            kinks_.push_back({y_[k] - f_[k], rows_.box[members_[k]]});
        const double flat = 1e-9 * total_;
        double slope = -of_first_;
        auto kink = kinks_.begin();  // of some that the slope changes its sign at one of, the first
        for (auto end = kinks_.end(); end - kink > 1;) {
            const auto middle = kink + (end - kink) / 2;
            std::nth_element(kink, middle, end);
            double below = slope;
            for (auto one = kink; one != middle; ++one) below += one->second;
            if (below >= -flat)
                end = middle;
            else
                slope = below, kink = middle;
        }
        slope += kink->second;
        const bool stretch = std::fabs(slope) <= flat && kink + 1 != kinks_.end();
        if (!stretch) return kink->first;
        return 0.5 * (kink->first + std::min_element(kink + 1, kinks_.end())->first);
    }

    // Make the sum of beta zero: on the heavier side, those of least slack give way.
    void balance(std::vector<double>& beta, double shift) {
        change_.resize(beta.size());
        double sum = std::accumulate(beta.begin(), beta.end(), 0.0);
        const double side = sum > 0 ? 1.0 : -1.0;
        by_margin_.clear();
        for (std::size_t k = 0; k < beta.size(); ++k)
            if (beta[k] * side > 0)
                by_margin_.push_back({1 - y_[k] * (f_[k] + shift), static_cast<std::int64_t>(k)});
        std::sort(by_margin_.begin(), by_margin_.end());
        sum = std::fabs(sum);
        for (const auto& [margin, k] : by_margin_) {
            const double less = std::min(sum, std::fabs(beta[k]));
            beta[k] -= side * less, sum -= less;
            if (sum <= 0) return;
        }
    }

    ClassRows<T> rows_;
    std::int64_t count_, first_;  // rows, and how many of them are of the first class
    double total_ = 0, of_first_ = 0, multiplier_ = 0;
    GapScale scale_{0, 0};
    std::vector<std::int64_t> active_, members_, some_;
    std::vector<std::pair<double, std::int64_t>> by_margin_;  // or slack
    std::vector<double> y_, f_, point_, change_, factors_;
    std::vector<T> w_;
    std::vector<std::pair<double, double>> kinks_;
};

}  // namespace budgetsvm
