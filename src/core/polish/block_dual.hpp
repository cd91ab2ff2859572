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
#include "polish/kernel_blocks.hpp"
#include "polish/largest.hpp"
#include "polish/pair_steps.hpp"

namespace budgetsvm {

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
template <class T, class Blocks>
class BlockDual {
  public:
    BlockDual(const Blocks& kernel, const double* targets, const Variables& variables,
              GapScale scale, std::int64_t* ages)
        : rows_(kernel),
          targets_(targets),
          v_(variables),
          scale_(scale),
          age_(ages),
          slopes_(kernel.size()) {
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
        slopes_.look_at(v_);
        if (!(slopes_.violation() > 0)) return false;
        if (!chosen_) choose();
        chosen_ = true;
        waits_ =
            !std::all_of(set_.begin(), set_.end(), [&](std::int32_t i) { return rows_.holds(i); });
        if (waits_) return false;
        chosen_ = false;
        for (const std::int32_t i : set_) age_[i] = std::abs(age_[i]);
        return climb(rigour * slopes_.violation());
    }

    // Half of the set are new rows, those that violate most on either side; the rest stays, the
    // latest first.
    void choose() {
        const std::int32_t n = rows_.size();
        ++latest_;
        if (n <= most_in_set) {
            set_.resize(static_cast<std::size_t>(n));
            std::iota(set_.begin(), set_.end(), 0);
            std::fill(age_, age_ + n, -latest_);
            return;
        }
        const std::size_t stay = std::min<std::size_t>(set_.size(), most_in_set / 2);
        const std::size_t fresh = most_in_set - stay, half = fresh / 2;
        find_steepest(slopes_.descents(), half, rising_);
        find_steepest(slopes_.downhill(), fresh + half, falling_);  // some may do both
        keep_latest(stay);
        take(rising_, slopes_.lowest(), half);
        take(falling_, -slopes_.highest(), most_in_set - set_.size());
        std::sort(set_.begin(), set_.end());  // as the next call finds it in the ages
    }

    // Those outside of the set whose derivatives, here with the other sign, are largest.
    void find_steepest(const double* opposites, std::size_t most, Largest& found) {
        constexpr std::int32_t some = 8 * lanes<double>;
        std::int32_t places[some];
        const std::int32_t end = padded(rows_.size(), lanes<double>);
        found.begin(most);
        for (std::int32_t start = 0; start < end; start += some) {
            const std::int32_t count = leaf<double>().below(
                opposites + start, std::min(some, end - start), -found.least(), places);
            for (std::int32_t k = 0; k < count; ++k) {
                const std::int32_t i = start + places[k];
                if (age_[i] == 0 && found.accepts(-opposites[i])) found.offer(-opposites[i], i);
            }
        }
    }

    void keep_latest(std::size_t most) {
        if (set_.size() <= most) return;
        std::stable_sort(set_.begin(), set_.end(),
                         [&](std::int32_t a, std::int32_t b) { return age_[a] > age_[b]; });
        for (std::size_t k = most; k < set_.size(); ++k) age_[set_[k]] = 0;
        set_.resize(most);
    }

    // The best of those that exceed a value, and that are not in the set already.
    void take(Largest& among, double value, std::size_t most) {
        std::vector<Largest::Offer> offers = among.found();
        std::sort(offers.begin(), offers.end());
        for (const Largest::Offer& one : offers) {
            if (most == 0 || !(one.value > value)) return;
            if (age_[one.who] != 0) continue;
            set_.push_back(one.who), age_[one.who] = -latest_;
            --most;
        }
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
        }
        fill_gram(size);
        const Variables v{beta, residual, lower, upper, v_.epsilon};
        if (PairSteps<T>(gram_.data(), v, size).climb(precision, steps_per_row * size) == 0)
            return false;
        follow(beta, residual);
        return true;
    }

    // One half is looked up. The other is written tile by tile: whole columns miss the cache.
    void fill_gram(std::int32_t size) {
        constexpr std::int32_t tile = 16;
        for (std::int32_t top = 0; top < size; top += tile)
            for (std::int32_t left = 0; left <= top; left += tile)
                for (std::int32_t k = top; k < std::min(top + tile, size); ++k) {
                    const std::int32_t i = set_[k];
                    const T *first = rows_.with_first(i), *second = rows_.with_second(i);
                    for (std::int32_t l = left; l < std::min(left + tile, k + 1); ++l) {
                        const std::int32_t j = set_[l];
                        const T value = j < rows_.n_first ? first[j] : second[j - rows_.n_first];
                        gram_[k * size + l] = gram_[l * size + k] = value;
                    }
                }
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
    // slope grows: the first one where it is no longer negative; of a stretch of equal losses, the
    // middle. It nearly always is between the extremes that were last seen, or close by.
    double best_bias() {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double margin = slopes_.violation();
        double bias = 0;
        if (std::isfinite(margin) &&
            is_best_between(slopes_.lowest() - margin, slopes_.highest() + margin, bias))
            return bias;
        is_best_between(-infinity, infinity, bias);
        return bias;
    }

    // Returns whether it lies there.
    bool is_best_between(double low, double high, double& bias) {
        const auto n = static_cast<std::size_t>(rows_.size());
        kinks_.resize(2 * n);
        double slope = 0, inside = 0, all = 0;
        double beyond = std::numeric_limits<double>::infinity();
        std::size_t count = 0;
        const auto look_at = [&](double where, double sharp) {
            const bool counts = where >= low && where <= high && sharp > 0;
            kinks_[count] = {where, sharp};
            count += counts ? 1 : 0;
            inside += counts ? sharp : 0.0, slope += where < low ? sharp : 0.0;
            if (where > high && sharp > 0) beyond = std::min(beyond, where);
        };
        for (std::size_t i = 0; i < n; ++i) {
            look_at(v_.residual[i] - v_.epsilon, v_.upper[i]);
            look_at(v_.residual[i] + v_.epsilon, -v_.lower[i]);
            slope -= v_.upper[i], all += v_.upper[i] - v_.lower[i];
        }
        const double flat = 1e-9 * all;
        const bool everywhere = !std::isfinite(low);
        const bool here = everywhere || (slope < -flat && slope + inside >= -flat);
        if (count == 0 || !here) return false;
        auto first = kinks_.begin(), last = first + static_cast<std::ptrdiff_t>(count);
        const auto end = last;
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
        bias = first->first;
        if (slope + first->second > flat) return true;
        for (auto it = last; it != end; ++it) beyond = std::min(beyond, it->first);
        if (std::isfinite(beyond)) bias = 0.5 * (bias + beyond);
        return true;
    }

    Blocks rows_;
    const double* targets_;
    Variables v_;
    GapScale scale_;
    std::vector<T> gram_;
    std::vector<double> own_;
    std::int64_t* age_;
    std::int64_t latest_ = 0;  // round that was begun
    bool chosen_ = false;      // the set of the next round
    bool waits_ = false;
    Slopes slopes_;  // before the last round
    std::vector<std::int32_t> set_;
    Largest rising_, falling_;  // of those outside of the set, by their derivatives
    std::vector<std::pair<double, double>> kinks_;  // of the loss: where, and how sharp
};

}  // namespace budgetsvm
