// SPDX-License-Identifier: BSD-3-Clause
// Exact mini-batches: a batch of points is evaluated against all terms at once, at the speed of a
// matrix product, and the solver then walks through it point by point. Every change of the model on
// the way corrects the values f(x) of the points that are still to come, by the changed terms
// alone. So the solver sees the values that it would see one point at a time, up to rounding.
//
// For every point of the batch and every term the batch keeps a *pair*: the distance for a radial
// kernel, the kernel value for others. The pairs of one term with all points to come are a column.
// A column whose term is about to change is *held*: its part of f is taken out, the pairs are
// changed, and settle() puts them and the new part back. A merged point's distances need no
// features:
//     ||x - z||^2 = h ||x - a||^2 + (1 - h) ||x - b||^2 - h (1 - h) ||a - b||^2
// for z = h a + (1 - h) b.
#pragma once

#include <algorithm>
#include <vector>

#include "points.hpp"

namespace budgetsvm {

template <class T>
class Batch {
  public:
    static constexpr std::int32_t tile = points_at_once;  // what one thread evaluates at a time

    // `most` points at a time; keep_pairs: terms will change, not just be added.
    Batch(const Kernel& kernel, const Terms<T>& terms, std::int32_t most, bool keep_pairs)
        : kernel_(kernel),
          tiles_(static_cast<std::size_t>(padded(most, tile) / tile)),
          values_(static_cast<std::size_t>(most)),
          features_(terms.features) {
        const std::int32_t room = padded(most, lanes<T>);
        // A row more than a power of two long: columns do not all fall into the same cache sets.
        stride_ = keep_pairs ? padded(terms.capacity, lanes<T>) + 64 / sizeof(T) : 0;
        pairs_.resize(static_cast<std::size_t>(most * stride_));
        if (most > 1 && own_panels_fit(room))
            own_.resize(static_cast<std::size_t>(room) * features_);
        own_norms_.resize(static_cast<std::size_t>(room));
        own_pairs_.resize(static_cast<std::size_t>(room + whole));
        values_of_column_.resize(static_cast<std::size_t>(room + whole));
    }

    // ---- evaluation; different tiles may be evaluated by different threads ----

    void open(std::int64_t start, std::int32_t count) {
        start_ = start;
        count_ = count;
        current_ = -1;
        std::fill(values_.begin(), values_.begin() + count, 0.0);
        std::fill(own_.begin(), own_.end(), T(0));
    }

    std::int32_t n_tiles() const { return padded(count_, tile) / tile; }

    void evaluate(std::int32_t index, const Rows& rows, const Terms<T>& terms) {
        const std::int32_t first = index * tile, size = std::min(tile, count_ - first);
        PointBlock<T>& block = tiles_[static_cast<std::size_t>(index)];
        block.load(rows, start_ + first, size, kernel_);
        for (std::int32_t p = 0; p < size; ++p) {
            own_norms_[first + p] = block.norm(p);
            if (!own_.empty()) own().place_entries(first + p, block.row(p));
        }
        const Out<T> kept{pairs_.data() + first * stride_, stride_,
                          static_cast<std::int32_t>(stride_)};
        kernel_.evaluate(block.points(), terms, kept, values_.data() + first);
    }

    // ---- the walk ----

    void advance_to(std::int32_t p) { current_ = p; }

    // f(x), and the point itself, of the current point.
    double value() const { return values_[current_]; }
    Row<T> point() const { return tiles_[current_ / tile].row(current_ % tile); }
    T norm() const { return own_norms_[current_]; }

    // The current point's pairs with all terms but itself.
    const T* pairs() const { return pairs_.data() + current_ * stride_; }

    // The current point was appended to the terms as `slot`; features were not copied yet, as it
    // may not stay.
    void append(std::int32_t slot) {
        pending_ = slot;
        if (!rest()) return;
        own_column();
        const T* pairs = own_pairs_.data();
        std::copy(pairs + current_ + 1, pairs + count_, hold_empty(slot));
    }

    // Whether that is so of term j; and the copy, if it must be.
    bool pending(std::int32_t j) const { return j == pending_; }
    void place_pending(Terms<T>& terms) {
        if (pending_ >= 0) terms.place(pending_, point());
        pending_ = -1;
    }

    // Hold the column of term j.
    void hold(const Terms<T>& terms, std::int32_t j) {
        if (!rest() || find(j)) return;
        T* column = hold_empty(j);
        const T* pair = pairs_.data() + (current_ + 1) * stride_ + j;
        for (std::int32_t q = 0; q < rest(); ++q, pair += stride_) column[q] = *pair;
        add_part(column, -terms.coef[j]);
    }

    // Term a becomes share * a + (1 - share) * b, both being held.
    void mix(std::int32_t a, std::int32_t b, double share, double squared_distance) {
        if (!rest()) return;
        T* mixed = find(a)->pairs.data();
        const T* other = find(b)->pairs.data();
        const T h = static_cast<T>(share), g = static_cast<T>(1 - share);
        const T less = static_cast<T>(share * (1 - share) * squared_distance);
        for (std::int32_t q = 0; q < rest(); ++q)
            mixed[q] = std::max(T(0), h * mixed[q] + g * other[q] - less);
    }

    // Held terms a and b change places.
    void exchange(std::int32_t a, std::int32_t b) {
        if (rest()) std::swap(find(a)->pairs, find(b)->pairs);
    }

    // Remove term j from the model; the last one takes its place.
    void remove(Terms<T>& terms, std::int32_t j) {
        const std::int32_t last = terms.size - 1;
        hold(terms, j);
        if (pending_ == last) {
            if (j != last) place_pending(terms);
            pending_ = -1;
        }
        if (rest()) {
            drop(j);
            if (Held* moved = find(last))
                moved->slot = j;
            else if (j != last)
                for (std::int32_t q = current_ + 1; q < count_; ++q)
                    pairs_[q * stride_ + j] = pairs_[q * stride_ + last];
        }
        terms.remove(j);
    }

    // All coefficients may have changed.
    void revalue_all() { revalue_ = true; }

    // Put the held columns back.
    void settle(Terms<T>& terms) {
        place_pending(terms);
        for (std::int32_t i = 0; i < n_held_; ++i) {
            const T* column = held_[i].pairs.data();
            T* pair = pairs_.data() + (current_ + 1) * stride_ + held_[i].slot;
            for (std::int32_t q = 0; q < rest(); ++q, pair += stride_) *pair = column[q];
            add_part(column, terms.coef[held_[i].slot]);
        }
        n_held_ = 0;
        if (!revalue_) return;
        revalue_ = false;
        std::vector<T> row(static_cast<std::size_t>(stride_));
        for (std::int32_t q = current_ + 1; q < count_; ++q) {
            kernel_.of_pairs(pairs_.data() + q * stride_, terms.size, row.data());
            values_[q] = leaf<T>().sum(terms.coef, row.data(), terms.size);
        }
    }

    // Without a budget there are no pairs: f += beta k(x, .) of the current point x.
    void add_current(double beta) {
        if (!rest()) return;
        own_column();
        add_part(own_pairs_.data() + current_ + 1, beta);
    }

  private:
    struct Held {
        std::int32_t slot;
        std::vector<T> pairs;
    };

    static constexpr std::int64_t most_own_bytes = 1 << 20;
    static constexpr std::int32_t whole = 32;  // a multiple of two packs at every level

    bool own_panels_fit(std::int32_t room) const {
        return static_cast<std::int64_t>(room) * features_ * sizeof(T) <= most_own_bytes;
    }

    // The points to come.
    std::int32_t rest() const { return count_ - 1 - current_; }

    // The batch's own points, as terms.
    Terms<T> own() { return {own_.data(), own_norms_.data(), nullptr, count_, count_, features_}; }

    // own_pairs_ := the current point's pairs with the points to come.
    void own_column() {
        if (!own_.empty()) return kernel_.pairs(point(), norm(), own(), own_pairs_.data());
        spread_.resize(static_cast<std::size_t>(features_));
        const Row<T> x = point();
        x.spread(spread_.data());
        for (std::int32_t q = current_ + 1; q < count_; ++q)
            own_pairs_[q] =
                kernel_.pair(tiles_[q / tile].row(q % tile), own_norms_[q], spread_.data(), norm());
        for (std::int32_t e = 0; e < x.count; ++e) spread_[x.feature(e)] = T(0);
    }

    // A column to be filled. Columns are used again: no allocation in the walk.
    T* hold_empty(std::int32_t slot) {
        if (n_held_ == static_cast<std::int32_t>(held_.size()))
            held_.push_back({slot, std::vector<T>(own_pairs_.size())});
        Held& held = held_[n_held_++];
        held.slot = slot;
        return held.pairs.data();
    }

    Held* find(std::int32_t slot) {
        for (std::int32_t i = 0; i < n_held_; ++i)
            if (held_[i].slot == slot) return &held_[i];
        return nullptr;
    }

    void drop(std::int32_t slot) {
        if (Held* held = find(slot)) std::swap(*held, held_[--n_held_]);
    }

    // f += beta k(z, .) for the points to come, z having these pairs with them. Whole packs are
    // faster, and all columns have room for them.
    void add_part(const T* pairs, double beta) {
        if (revalue_ || !rest()) return;
        kernel_.of_pairs(pairs, padded(rest(), whole), values_of_column_.data());
        leaf<T>().add(beta, values_of_column_.data(), values_.data() + current_ + 1, rest());
    }

    const Kernel& kernel_;
    std::vector<PointBlock<T>> tiles_;
    std::vector<T> pairs_;  // (points, stride)
    std::int64_t stride_;
    std::vector<double> values_;                  // f(x)
    std::vector<T> own_, own_norms_, own_pairs_;  // the points as panels of terms
    std::vector<T> spread_, values_of_column_;    // work space
    std::vector<Held> held_;                      // the first n_held_ of them are in use
    std::int32_t n_held_ = 0;
    std::int64_t start_ = 0;
    std::int32_t count_ = 0, current_ = -1, features_;
    std::int32_t pending_ = -1;
    bool revalue_ = false;
};

}  // namespace budgetsvm
