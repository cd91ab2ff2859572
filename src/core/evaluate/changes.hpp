// SPDX-License-Identifier: BSD-3-Clause
// What the steps of a batch did to the terms, in order. A point whose turn comes needs its pairs
// with the terms as they are now (see batch.hpp), and the parts of f that came and went. Its row of
// pairs is contiguous and needed next anyway: that is cheaper than to correct a column of pairs, of
// all points to come, after every step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "leaf/leaf.hpp"

namespace budgetsvm {

// A term moves to share * other + (1 - share) * itself, from so far apart.
struct Mix {
    double share, squared_distance;
};

// Terms of a sum, sum_i weights[i] k(pairs[i]).
template <class T>
struct Parts {
    const T* pairs;
    const double* weights;
    std::int32_t count;
};

template <class T>
class Changes {
  public:
    bool empty() const { return changes_.empty(); }

    void clear() {
        std::fill(weights_.begin(), weights_.begin() + 2 * count(), 0.0);
        changes_.clear();
    }

    // A term's source of pairs: a slot, or the k-th point that was inserted.
    static std::int32_t inserted(std::int32_t k) { return ~k; }

    // The new term `slot` has the pairs of `source`, and coefficient beta.
    void append(std::int32_t slot, std::int32_t source, double beta) {
        add({slot, source, 1, 0, 0}, 0, beta);
    }

    // Term `slot` with coefficient `old` is gone, another is in its place.
    void replace(std::int32_t slot, std::int32_t source, double old) {
        add({slot, source, 1, 0, 0}, old, 0);
    }

    // Term `slot` was mixed with another, and its coefficient `old` became beta.
    void mix(std::int32_t slot, std::int32_t source, Mix mix, double old, double beta) {
        const double less = mix.share * (1 - mix.share) * mix.squared_distance;
        add({slot, source, static_cast<T>(mix.share), static_cast<T>(1 - mix.share),
             static_cast<T>(less)},
            old, beta);
    }

    // The coefficient of the term that changed last.
    void reweigh(double beta) { weights_[2 * count() - 1] = beta; }

    // Bring a point's pairs up to date: inserted[k * stride] is that with the k-th inserted point.
    // Returns what to add to f.
    Parts<T> apply(T* pairs, const T* inserted, std::int64_t stride) {
        T* part = parts_.data();
        for (const Change& change : changes_) {
            const T other =
                change.source < 0 ? inserted[~change.source * stride] : pairs[change.source];
            const T old = pairs[change.slot];
            T now = other;
            if (change.kept != 0) {  // these are distances
                const T mixed = change.share * other + change.kept * old - change.less;
                now = mixed > 0 ? mixed : T(0);
            }
            pairs[change.slot] = now;
            *part++ = old, *part++ = now;
        }
        return {parts_.data(), weights_.data(), padded(2 * count(), whole)};
    }

  private:
    struct Change {
        std::int32_t slot, source;
        T share, kept, less;  // pair = share * source's pair + kept * pair - less
    };

    static constexpr std::int32_t whole = 32;  // a multiple of two packs at every level

    std::int32_t count() const { return static_cast<std::int32_t>(changes_.size()); }

    void add(const Change& change, double old, double beta) {
        changes_.push_back(change);
        const std::size_t needed = padded(2 * count(), whole);
        if (weights_.size() < needed) {
            weights_.resize(2 * needed);
            parts_.resize(2 * needed);
        }
        weights_[2 * count() - 2] = -old;
        weights_[2 * count() - 1] = beta;
    }

    std::vector<Change> changes_;
    std::vector<double> weights_;  // two for every change: what goes and what comes; then zeros
    std::vector<T> parts_;         // their pairs with the point at hand
};

}  // namespace budgetsvm
