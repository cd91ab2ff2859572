// SPDX-License-Identifier: BSD-3-Clause
// The dual of one output on the kernel values of all its rows, with a bias that costs nothing: see
// pair_steps.hpp for the problem. Steps are made on a working set whose kernel values are in the
// cache; then the residuals of all rows follow by whole rows of the kernel matrix (Joachims 1999;
// half of a set stays for the next round).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "leaf/leaf.hpp"
#include "polish/gap_scale.hpp"
#include "polish/pair_steps.hpp"

namespace budgetsvm {

// The kernel matrix of two groups of rows, the second of which may be empty, in four blocks.
template <class T>
struct KernelBlocks {
    const T* first;   // (n_first, n_first), or as many rows as are held
    const T* cross;   // (n_first, n_second)
    const T* back;    // (n_second, n_first), its transpose
    const T* second;  // (n_second, n_second)
    std::int64_t n_first, n_second;
    // Where `first` has each of its rows, negative for those that it lacks; none: in their order.
    const std::int32_t* places = nullptr;

    std::int32_t size() const { return static_cast<std::int32_t>(n_first + n_second); }
    bool holds(std::int64_t i) const { return !places || i >= n_first || places[i] >= 0; }
    const T* with_first(std::int64_t i) const {
        if (i >= n_first) return back + (i - n_first) * n_first;
        return first + (places ? places[i] : i) * n_first;
    }
    const T* with_second(std::int64_t i) const {
        return i < n_first ? cross + i * n_second : second + (i - n_first) * n_second;
    }
};

struct BlockSolution {
    double primal = std::numeric_limits<double>::infinity(), dual = 0, bias = 0;
    double scale = 1;  // what the gap is measured by
    std::int64_t rounds = 0;
    bool waits = false;  // for rows of the working set that are not held

    bool within(double tolerance) const { return primal - dual <= tolerance * scale; }
};

// The whole problem: beta begins feasible and with the sum zero, the residuals belong to it. The
// working set is what `ages` says of every row: 0 outside, else the round in which it came, and
// negative until that round is made.
template <class T>
class BlockDual {
  public:
    BlockDual(const KernelBlocks<T>& kernel, const double* targets, const Variables& variables,
              GapScale scale, std::int64_t* ages)
        : rows_(kernel), targets_(targets), v_(variables), scale_(scale), age_(ages) {
        for (std::int32_t i = 0; i < rows_.size(); ++i) {
            if (age_[i] != 0) set_.push_back(i);
            chosen_ = chosen_ || age_[i] < 0;
            latest_ = std::max(latest_, std::abs(age_[i]));
        }
    }

    // Where a round was begun, and has waited for its rows, nothing is known before it is made.
    BlockSolution solve(double tolerance, std::int64_t most_rounds) {
        BlockSolution found;
        if (!chosen_) found = certificate();
        while (found.rounds < most_rounds && !found.within(tolerance)) {
            const std::int64_t rounds = found.rounds;
            const bool more = round();
            if ((found.waits = waits_)) break;
            const bool last = !more || rounds + 1 == most_rounds;
            if (last || latest_ % rounds_per_look() == 0) found = certificate();
            found.rounds = rounds + 1;
            if (!more) break;
        }
        return found;
    }

  private:
    static constexpr std::int32_t most_in_set = 192;
    static constexpr std::int64_t steps_per_row = 8;
    static constexpr double rigour = 0.1;  // of the violation of all rows
    static constexpr std::int32_t many_rows = 1024;

    // Of many rows, to look how good they are takes as long as a round.
    std::int64_t rounds_per_look() const { return rows_.size() > many_rows ? 4 : 1; }

    // Returns whether there was anything to do.
    bool round() {
        const Extremes found = extremes(v_, rows_.size());
        if (!(found.violation() > 0)) return false;
        if (!chosen_) choose(++latest_, found);
        chosen_ = true;
        waits_ =
            !std::all_of(set_.begin(), set_.end(), [&](std::int32_t i) { return rows_.holds(i); });
        if (waits_) return false;
        chosen_ = false;
        for (const std::int32_t i : set_) age_[i] = std::abs(age_[i]);
        return climb(rigour * found.violation());
    }

    // Half of the set are new rows, those that violate most on either side; the rest stays, the
    // latest first.
    void choose(std::int64_t number, const Extremes& found) {
        const std::int32_t n = rows_.size();
        if (n <= most_in_set) {
            set_.resize(static_cast<std::size_t>(n));
            std::iota(set_.begin(), set_.end(), 0);
            std::fill(age_, age_ + n, -number);
            return;
        }
        std::vector<std::int32_t> fresh, old;
        old.swap(set_);
        if (old.size() > most_in_set / 2) {
            std::stable_sort(old.begin(), old.end(),
                             [&](std::int32_t a, std::int32_t b) { return age_[a] > age_[b]; });
            for (std::size_t k = most_in_set / 2; k < old.size(); ++k) age_[old[k]] = 0;
            old.resize(most_in_set / 2);
        }
        for (const std::int32_t i : old) set_.push_back(i);
        const auto take = [&](auto may, auto violation, std::size_t most) {
            fresh.clear();
            for (std::int32_t i = 0; i < n; ++i)
                if (age_[i] == 0 && may(i) && violation(i) > 0) fresh.push_back(i);
            const auto more = [&](std::int32_t a, std::int32_t b) {
                const double one = violation(a), other = violation(b);
                return one > other || (one == other && a < b);
            };
            const auto end =
                fresh.begin() + static_cast<std::ptrdiff_t>(std::min(most, fresh.size()));
            std::nth_element(fresh.begin(), end, fresh.end(), more);
            for (auto it = fresh.begin(); it != end; ++it) set_.push_back(*it), age_[*it] = -number;
        };
        const std::size_t half = (most_in_set - set_.size()) / 2;
        take([&](std::int32_t i) { return v_.may_grow(i); },
             [&](std::int32_t i) { return v_.uphill(i) - found.down; }, half);
        take([&](std::int32_t i) { return v_.may_fall(i); },
             [&](std::int32_t i) { return found.up - v_.downhill(i); }, most_in_set - set_.size());
        std::sort(set_.begin(), set_.end());  // as the next call finds it in the ages
    }

    // Climb on the working set, and bring the residuals of all rows up to date.
    bool climb(double precision) {
        const auto size = static_cast<std::int32_t>(set_.size());
        gram_.resize(set_.size() * set_.size());
        own_.resize(4 * set_.size());
        double *beta = own_.data(), *residual = beta + size, *lower = residual + size;
        double* upper = lower + size;
        for (std::int32_t k = 0; k < size; ++k) {
            const std::int32_t i = set_[k];
            beta[k] = v_.beta[i], residual[k] = v_.residual[i];
            lower[k] = v_.lower[i], upper[k] = v_.upper[i];
            const T *first = rows_.with_first(i), *second = rows_.with_second(i);
            for (std::int32_t l = 0; l < size; ++l) {
                const std::int32_t j = set_[l];
                gram_[static_cast<std::size_t>(k) * set_.size() + static_cast<std::size_t>(l)] =
                    j < rows_.n_first ? first[j] : second[j - rows_.n_first];
            }
        }
        const Variables v{beta, residual, lower, upper, v_.epsilon};
        if (climb_in_pairs(gram_.data(), v, size, precision, steps_per_row * size) == 0)
            return false;
        follow(beta, residual);
        return true;
    }

    void follow(const double* beta, const double* residual) {
        const auto size = static_cast<std::int32_t>(set_.size());
        if (size == rows_.size()) {  // it has all rows
            std::copy(beta, beta + size, v_.beta);
            std::copy(residual, residual + size, v_.residual);
            return;
        }
        std::vector<std::int32_t> moved;
        std::vector<double> change;
        for (std::int32_t k = 0; k < size; ++k) {
            double& before = v_.beta[set_[k]];
            if (beta[k] == before) continue;
            moved.push_back(set_[k]), change.push_back(before - beta[k]);
            before = beta[k];
        }
        const auto n_first = static_cast<std::int32_t>(rows_.n_first);
        const auto n_second = static_cast<std::int32_t>(rows_.n_second);
        for (std::size_t begin = 0; begin < moved.size(); begin += group_size) {
            double scale[group_size] = {};
            const T *first[2 * group_size], *second[2 * group_size];
            for (std::size_t k = 0; k < 2 * group_size; ++k) {
                const std::size_t at = std::min(begin + k, moved.size() - 1);
                if (k < group_size && begin + k < moved.size()) scale[k] = change[at];
                first[k] = rows_.with_first(moved[at]), second[k] = rows_.with_second(moved[at]);
            }
            leaf<T>().add_rows(scale, first, n_first, v_.residual);
            leaf<T>().add_rows(scale, second, n_second, v_.residual + n_first);
        }
    }

    BlockSolution certificate() {
        BlockSolution found;
        found.bias = best_bias();
        double norm = 0, gain = 0, cost = 0;
        for (std::int32_t i = 0; i < rows_.size(); ++i) {
            const double beta = v_.beta[i], left = v_.residual[i] - found.bias;
            norm += beta * (targets_[i] - v_.residual[i]);
            gain += targets_[i] * beta - v_.epsilon * std::fabs(beta);
            cost += v_.upper[i] * std::max(0.0, left - v_.epsilon) -
                    v_.lower[i] * std::max(0.0, -left - v_.epsilon);
        }
        found.primal = 0.5 * norm + cost, found.dual = gain - 0.5 * norm;
        found.scale = scale_(found.primal, found.dual);
        return found;
    }

    // The loss as a function of the bias has a kink eps below and above each residual, where its
    // slope grows; of a stretch of equal losses, the middle. Halves of the kinks are left out until
    // that one is left where the slope is no longer negative: sorting all of them takes longer.
    double best_bias() {
        kinks_.clear();
        double slope = 0, all = 0;
        for (std::int32_t i = 0; i < rows_.size(); ++i) {
            const double upper = v_.upper[i], lower = v_.lower[i];
            if (upper > 0) kinks_.push_back({v_.residual[i] - v_.epsilon, upper});
            if (lower < 0) kinks_.push_back({v_.residual[i] + v_.epsilon, -lower});
            slope -= upper, all += upper - lower;
        }
        if (kinks_.empty()) return 0.0;
        const double flat = 1e-9 * all;
        auto first = kinks_.begin(), last = kinks_.end();
        while (last - first > 1) {
            const auto middle = first + (last - first - 1) / 2;
            std::nth_element(first, middle, last);
            double there = slope;
            for (auto it = first; it <= middle; ++it) there += it->second;
            if (there < -flat)
                first = middle + 1, slope = there;
            else
                last = middle + 1;
        }
        const bool stretch = slope + first->second <= flat && last != kinks_.end();
        return stretch ? 0.5 * (first->first + std::min_element(last, kinks_.end())->first)
                       : first->first;
    }

    KernelBlocks<T> rows_;
    const double* targets_;
    Variables v_;
    GapScale scale_;
    std::vector<double> gram_, own_;
    std::int64_t* age_;
    std::int64_t latest_ = 0;  // round that was begun
    bool chosen_ = false;      // the set of the next round
    bool waits_ = false;
    std::vector<std::int32_t> set_;
    std::vector<std::pair<double, double>> kinks_;  // of the loss: where, and how sharp
};

}  // namespace budgetsvm
