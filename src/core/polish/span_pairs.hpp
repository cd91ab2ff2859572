// SPDX-License-Identifier: BSD-3-Clause
// Two classes in the span of some terms, with the hinge loss and a bias that costs nothing, for
// many pairs of classes that share their orthonormal features: rounds of coordinate ascent
// (ascent.hpp) until the gap is small enough. The rows of each class follow each other. The last
// feature is a constant, and what its coefficient is drawn to moves on after every round, as in
// _polish/ascent.py, which has the theory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "model/losses.hpp"
#include "polish/ascent.hpp"
#include "polish/gap_scale.hpp"
#include "polish/passes.hpp"

namespace budgetsvm {

template <class T>
struct ClassRows {
    const T* features;   // (n, width), row-major; the last one is constant
    const T* curvature;  // ||g_i||^2
    const double* box;   // C_i
    std::int64_t n;
    std::int32_t width;
};

struct ClassRange {
    std::int64_t begin, end;
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
        : rows_(rows), count_(first.end - first.begin + second.end - second.begin) {
        const auto n = static_cast<std::size_t>(count_),
                   width = static_cast<std::size_t>(rows.width);
        order_.resize(n);
        std::iota(order_.begin(), order_.begin() + (first.end - first.begin), first.begin);
        std::iota(order_.begin() + (first.end - first.begin), order_.end(), second.begin);
        members_ = order_;
        y_.resize(n), f_.resize(n), w_.assign(width, T(0)), point_.assign(width, 0.0);
        double costs[2] = {0, 0};
        for (std::size_t k = 0; k < n; ++k) {
            const bool is_first = k < static_cast<std::size_t>(first.end - first.begin);
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
        double precision = 0.1;
        for (std::int64_t round = 0; round < most_rounds; ++round, precision *= 0.4) {
            const LinearProblem<T> problem{rows_.features, rows_.curvature, y,         targets,
                                           rows_.box,      alpha,           w_.data(), rows_.width};
            constexpr double infinity = std::numeric_limits<double>::infinity();
            const Passes passes =
                ascend_until(Hinge(LossParameters{0}), problem, order_.data(), count_,
                             Passes{0, count_, {infinity, -infinity}}, precision, most_passes,
                             Shuffler(seed + static_cast<std::uint64_t>(round)));
            best.passes += passes.done + 2;
            evaluate(alpha, best);
            best.scale = scale_(best.primal, best.dual);
            if (best.primal - best.dual <= goal * best.scale) return;
        }
    }

    const std::vector<std::int64_t>& members() const { return members_; }

  private:
    static constexpr std::int64_t most_passes = 40;

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
        std::sort(kinks_.begin(), kinks_.end());
        double slope = -of_first_;
        const double flat = 1e-9 * total_;
        for (std::size_t k = 0; k < kinks_.size(); ++k) {
            slope += kinks_[k].second;
            if (slope < -flat) continue;
            const bool stretch = slope <= flat && k + 1 < kinks_.size();
            return stretch ? 0.5 * (kinks_[k].first + kinks_[k + 1].first) : kinks_[k].first;
        }
        return kinks_.back().first;
    }

    // Make the sum of beta zero: on the heavier side, those of least slack give way.
    void balance(std::vector<double>& beta, double shift) {
        change_.resize(beta.size());
        double sum = std::accumulate(beta.begin(), beta.end(), 0.0);
        const double side = sum > 0 ? 1.0 : -1.0;
        heavy_.clear();
        for (std::size_t k = 0; k < beta.size(); ++k)
            if (beta[k] * side > 0) heavy_.push_back(static_cast<std::int64_t>(k));
        const auto slack = [&](std::int64_t k) { return 1 - y_[k] * (f_[k] + shift); };
        std::sort(heavy_.begin(), heavy_.end(), [&](std::int64_t a, std::int64_t b) {
            return slack(a) < slack(b) || (slack(a) == slack(b) && a < b);
        });
        sum = std::fabs(sum);
        for (const std::int64_t k : heavy_) {
            const double less = std::min(sum, std::fabs(beta[k]));
            beta[k] -= side * less, sum -= less;
            if (sum <= 0) return;
        }
    }

    ClassRows<T> rows_;
    std::int64_t count_;
    double total_ = 0, of_first_ = 0, multiplier_ = 0;
    GapScale scale_{0, 0};
    std::vector<std::int64_t> order_, members_, heavy_, some_;
    std::vector<double> y_, f_, point_, change_, factors_;
    std::vector<T> w_;
    std::vector<std::pair<double, double>> kinks_;
};

}  // namespace budgetsvm
