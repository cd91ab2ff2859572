// SPDX-License-Identifier: BSD-3-Clause
// Exact mini-batches: a batch of points is evaluated against all terms at once, at the speed of a
// matrix product, and the solver then walks through it point by point. What the steps on the way
// change is written down (changes.hpp), and made up for when a point's turn comes: by the changed
// terms alone. So the solver sees the values that it would see one point at a time, up to rounding.
//
// For every point of the batch and every term the batch keeps a *pair*: the distance for a radial
// kernel, the kernel value for others. A merged point's distances need no features:
//     ||x - z||^2 = h ||x - a||^2 + (1 - h) ||x - b||^2 - h (1 - h) ||a - b||^2
// for z = h a + (1 - h) b.
#pragma once

#include <algorithm>
#include <vector>

#include "evaluate/changes.hpp"
#include "evaluate/points.hpp"
#include "model/spread_row.hpp"

namespace budgetsvm {

template <class T>
class Batch {
  public:
    // `most` points at a time; keep_pairs: terms will change, not just be added. Every thread
    // should have its share.
    Batch(const Kernel& kernel, const Terms<T>& terms, std::int32_t most, bool keep_pairs,
          std::int32_t n_threads = 1)
        : kernel_(kernel),
          tile_(std::clamp(padded(most, n_threads) / n_threads, least_tile, points_at_once)),
          tiles_(static_cast<std::size_t>(padded(most, tile_) / tile_)),
          rows_(static_cast<std::size_t>(most)),
          values_(static_cast<std::size_t>(most)),
          spread_(terms.features, terms.sparse != nullptr),
          features_(terms.features) {
        const std::int32_t room = padded(most, lanes<T>);
        // A row more than a power of two long: a panel's part of all rows does not fall into the
        // same cache sets.
        stride_ = keep_pairs ? padded(terms.capacity, lanes<T>) + 64 / sizeof(T) : 0;
        pairs_.resize(static_cast<std::size_t>(most * stride_ + 1));
        if (most > 1 && own_panels_fit(room))
            own_.resize(static_cast<std::size_t>(room) * features_);
        own_norms_.resize(static_cast<std::size_t>(room));
        own_stride_ = room + 64 / sizeof(T);
        own_pairs_.resize(static_cast<std::size_t>(most * own_stride_));
    }

    // ---- evaluation; different tiles may be evaluated by different threads ----

    void open(std::int64_t start, std::int32_t count) {
        start_ = start;
        count_ = count;
        current_ = -1;
        n_own_ = 0;
        revalue_ = false;
        changes_.clear();
        std::fill(values_.begin(), values_.begin() + count, 0.0);
        std::fill(own_.begin(), own_.end(), T(0));
    }

    std::int32_t n_tiles() const { return padded(count_, tile_) / tile_; }
    std::int32_t most_tiles() const { return static_cast<std::int32_t>(tiles_.size()); }

    void evaluate(std::int32_t index, const Rows& rows, const Terms<T>& terms) {
        const std::int32_t first = index * tile_, size = std::min(tile_, count_ - first);
        PointBlock<T>& block = tiles_[static_cast<std::size_t>(index)];
        block.load(rows, start_ + first, size, kernel_);
        for (std::int32_t p = 0; p < size; ++p) {
            rows_[first + p] = block.row(p);
            own_norms_[first + p] = block.norm(p);
            if (!own_.empty()) own().place_entries(first + p, block.row(p));
        }
        const Out<T> kept{pairs_.data() + first * stride_, stride_,
                          static_cast<std::int32_t>(stride_)};
        kernel_.evaluate(block.points(), terms, kept, values_.data() + first);
    }

    // ---- the walk ----

    void advance_to(std::int32_t p, const Terms<T>& terms) {
        current_ = p;
        if (changes_.empty()) return;
        T* pairs = pairs_.data() + p * stride_;
        const Parts<T> parts = changes_.apply(pairs, own_pairs_.data() + p, own_stride_);
        if (revalue_)
            values_[p] = kernel_.sum_of_pairs(pairs, terms.coef, terms.size);
        else
            values_[p] += kernel_.sum_of_pairs(parts.pairs, parts.weights, parts.count);
    }

    // f(x), and the point itself, of the current point.
    double value() const { return values_[current_]; }
    Row<T> point() const { return rows_[current_]; }
    T norm() const { return own_norms_[current_]; }

    // The current point's pairs with all terms but itself.
    const T* pairs() const { return pairs_.data() + current_ * stride_; }

    // The current point was appended to the terms as `slot`; nothing else was done yet, as it may
    // not stay.
    void append(std::int32_t slot) { pending_ = slot; }

    // Whether that is so of term j; and the rest, if it must be.
    bool pending(std::int32_t j) const { return j == pending_; }
    void place_pending(Terms<T>& terms) {
        if (pending_ < 0) return;
        terms.place(pending_, point());
        if (rest()) changes_.append(pending_, own_column(), terms.coef[pending_]);
        pending_ = -1;
    }

    // Term j is mixed with another, which may be pending and is to be removed, and has coefficient
    // beta now. Its features and its norm are left to the caller.
    void merge(Terms<T>& terms, std::int32_t j, std::int32_t other, Mix mix, double beta) {
        if (rest())
            changes_.mix(j, pending(other) ? own_column() : other, mix, terms.coef[j], beta);
        terms.coef[j] = beta;
    }

    // Another coefficient for the term j that was merged last.
    void reweigh(Terms<T>& terms, std::int32_t j, double beta) {
        if (rest()) changes_.reweigh(beta);
        terms.coef[j] = beta;
    }

    // Remove term j from the model; the last one takes its place.
    void remove(Terms<T>& terms, std::int32_t j) {
        const std::int32_t last = terms.size - 1;
        if (j != last) place_pending(terms);
        if (rest() && !pending(j)) changes_.replace(j, last, terms.coef[j]);
        pending_ = -1;
        terms.remove(j);
    }

    // All coefficients may have changed.
    void revalue_all() { revalue_ = true; }

    // Without a budget there are no pairs, and no place for them: f += beta k(x, .) of the current
    // point x.
    void add_current(double beta) {
        if (rest()) changes_.append(0, own_column(), beta);
    }

  private:
    static constexpr std::int32_t least_tile = 8;  // fewer points are not worth a thread
    static constexpr std::int64_t most_own_bytes = 1 << 20;

    bool own_panels_fit(std::int32_t room) const {
        return static_cast<std::int64_t>(room) * features_ * sizeof(T) <= most_own_bytes;
    }

    // The points to come.
    std::int32_t rest() const { return count_ - 1 - current_; }

    // The batch's own points, as terms.
    Terms<T> own() { return {own_.data(), own_norms_.data(), nullptr, count_, count_, features_}; }

    // The current point's pairs with the points to come, as a source of Changes.
    std::int32_t own_column() {
        T* column = own_pairs_.data() + n_own_ * own_stride_;
        if (own_.empty())
            fill_one_by_one(column);
        else
            kernel_.pairs(point(), norm(), own(), column);
        return Changes<T>::inserted(n_own_++);
    }

    void fill_one_by_one(T* column) {
        const Row<T> x = point();
        spread_.take(x);
        for (std::int32_t q = current_ + 1; q < count_; ++q)
            column[q] = kernel_.pair(rows_[q], own_norms_[q], spread_, norm());
        spread_.forget(x);
    }

    const Kernel& kernel_;
    const std::int32_t tile_;  // points that one thread evaluates at a time
    std::vector<PointBlock<T>> tiles_;
    std::vector<Row<T>> rows_;  // of all tiles
    std::vector<T> pairs_;      // (points, stride)
    std::int64_t stride_;
    std::vector<double> values_;      // f(x)
    std::vector<T> own_, own_norms_;  // the points as panels of terms
    std::vector<T> own_pairs_;        // (inserted points, own_stride)
    std::int64_t own_stride_;
    SpreadRow<T> spread_;  // work space
    Changes<T> changes_;
    std::int64_t start_ = 0;
    std::int32_t count_ = 0, current_ = -1, features_;
    std::int32_t n_own_ = 0;  // points of the batch that were inserted
    std::int32_t pending_ = -1;
    bool revalue_ = false;
};

}  // namespace budgetsvm
