// SPDX-License-Identifier: BSD-3-Clause
// A point of its own, for what merging does to points: dense or sparse, as the terms are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/terms.hpp"

namespace budgetsvm {

// Calls use(feature, value in a, value in b) for the features that one of two sparse rows has, in
// order.
template <class T, class Use>
void join(Row<T> a, Row<T> b, Use use) {
    std::int32_t i = 0, j = 0;
    while (i < a.count || j < b.count) {
        const bool first = j == b.count || (i < a.count && a.indices[i] < b.indices[j]);
        const bool second = i == a.count || (j < b.count && b.indices[j] < a.indices[i]);
        const std::int32_t feature = second ? b.indices[j] : a.indices[i];
        const T x = second ? T(0) : a.values[i++], z = first ? T(0) : b.values[j++];
        use(feature, x, z);
    }
}

template <class T>
class Point {
  public:
    void take(const Terms<T>& terms, std::int32_t j) {
        if (terms.sparse) return copy(terms.sparse->row(j));
        indices_.clear();
        values_.resize(static_cast<std::size_t>(terms.features));
        terms.copy_point(j, values_.data());
        sparse_ = false;
    }

    // A row, as a point of terms like these.
    void take(const Terms<T>& terms, Row<T> x) {
        if (terms.sparse) return copy(x);
        indices_.clear();
        values_.resize(static_cast<std::size_t>(terms.features));
        if (x.count < terms.features) std::fill(values_.begin(), values_.end(), T(0));
        x.spread(values_.data());
        sparse_ = false;
    }

    Row<T> row() const { return {values_.data(), sparse_ ? indices_.data() : nullptr, count()}; }

    double squared_distance(const Point& other) const {
        if (!sparse_)
            return leaf<T>().squared_distance(values_.data(), other.values_.data(), count());
        double sum = 0;
        join(row(), other.row(), [&](std::int32_t, T x, T z) {
            const double apart = static_cast<double>(x) - z;
            sum += apart * apart;
        });
        return sum;
    }

    // Whether no more than so many entries are those of one of the two.
    bool fits(const Point& other, std::int32_t room) const {
        if (!sparse_ || count() + other.count() <= room) return true;
        std::int32_t both = 0;
        join(row(), other.row(), [&](std::int32_t, T, T) { ++both; });
        return both <= room;
    }

    void mix(T own_share, const Point& other, T other_share) {
        if (sparse_) return mix_sparse(own_share, other, other_share);
        for (std::size_t k = 0; k < values_.size(); ++k)
            values_[k] = own_share * values_[k] + other_share * other.values_[k];
    }

  private:
    std::int32_t count() const { return static_cast<std::int32_t>(values_.size()); }

    void copy(Row<T> x) {
        sparse_ = true;
        values_.clear(), indices_.clear();
        for (std::int32_t e = 0; e < x.count; ++e) add(x.feature(e), x.values[e]);
    }

    void add(std::int32_t feature, T value) {
        if (value == 0) return;
        values_.push_back(value);
        indices_.push_back(feature);
    }

    void mix_sparse(T own_share, const Point& other, T other_share) {
        values_.swap(old_values_), indices_.swap(old_indices_);
        values_.clear(), indices_.clear();
        const Row<T> own{old_values_.data(), old_indices_.data(),
                         static_cast<std::int32_t>(old_values_.size())};
        join(own, other.row(), [&](std::int32_t feature, T x, T z) {
            add(feature, own_share * x + other_share * z);
        });
    }

    bool sparse_ = false;
    std::vector<T> values_, old_values_;
    std::vector<std::int32_t> indices_, old_indices_;
};

}  // namespace budgetsvm
