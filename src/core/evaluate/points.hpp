// SPDX-License-Identifier: BSD-3-Clause
// A few rows of the data, copied next to each other in the precision of the computation, less the
// centre. Rows that are mostly zero become sparse: their zeros would only cost time, and data with
// one-hot columns are common. Sums come out the same, bit by bit.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "model/kernel.hpp"
#include "model/rows.hpp"

namespace budgetsvm {

template <class T>
class PointBlock {
  public:
    // Take rows [start, start + count).
    void load(const Rows& rows, std::int64_t start, std::int32_t count, const Kernel& kernel) {
        reserve(rows, start, count);
        std::int64_t used = 0;
        for (std::int32_t p = 0; p < count; ++p) touched_ += rows.touch(start + p);
        for (std::int32_t p = 0; p < count; ++p) {
            const Row<T> row = rows.indices ? copy_sparse(rows, start + p, used)
                                            : copy_dense(rows, start + p, used);
            rows_[p] = row;
            norms_[p] = kernel.norm(row);
            if (!(norms_[p] <= largest_norm) && kernel.translation_invariant()) {
                bring_near(values_.data() + used, row.count, kernel);
                norms_[p] = kernel.norm(row);
            }
            used += row.count;
        }
        count_ = count;
    }

    Points<T> points() const { return {rows_.data(), norms_.data(), count_}; }
    const Row<T>& row(std::int32_t p) const { return rows_[p]; }
    T norm(std::int32_t p) const { return norms_[p]; }

  private:
    // Below this share of non-zeros, touching them alone is faster.
    static constexpr double sparse_below = 0.75;

    // Distances are sums and differences of such norms: finite ones, up to here.
    static constexpr T largest_norm = std::numeric_limits<T>::max() / 8;

    // A row so far away that its norm overflows would have infinity less infinity for its
    // distances. It is brought nearer, to where every kernel value still is 0.
    static void bring_near(T* values, std::int32_t count, const Kernel& kernel) {
        const T most = kernel.entry_of_norm(largest_norm / static_cast<T>(count));
        for (std::int32_t e = 0; e < count; ++e) values[e] = std::clamp(values[e], -most, most);
    }

    void reserve(const Rows& rows, std::int64_t start, std::int32_t count) {
        std::int64_t entries = 0;
        for (std::int32_t p = 0; p < count; ++p) entries += rows.length(start + p);
        if (entries > static_cast<std::int64_t>(values_.size())) {
            values_.resize(static_cast<std::size_t>(entries));
            indices_.resize(static_cast<std::size_t>(entries));
        }
        if (count > static_cast<std::int32_t>(rows_.size())) {
            rows_.resize(static_cast<std::size_t>(count));
            norms_.resize(static_cast<std::size_t>(count));
        }
    }

    Row<T> copy_sparse(const Rows& rows, std::int64_t r, std::int64_t used) {
        const std::int64_t from = rows.start(r);
        const std::int32_t length = rows.length(r);
        T* values = values_.data() + used;
        convert(rows, from, length, values);
        std::int32_t* indices = indices_.data() + used;
        for (std::int32_t e = 0; e < length; ++e) indices[e] = rows.indices[from + e];
        return {values, indices, length};
    }

    Row<T> copy_dense(const Rows& rows, std::int64_t r, std::int64_t used) {
        const std::int32_t features = rows.features;
        T* values = values_.data() + used;
        convert(rows, rows.start(r), features, values);
        std::int32_t zeros = 0;
        for (std::int32_t k = 0; k < features; ++k) zeros += values[k] == 0;
        if (features - zeros > sparse_below * features) return {values, nullptr, features};
        std::int32_t* indices = indices_.data() + used;
        std::int32_t count = 0;
        for (std::int32_t k = 0; k < features; ++k) {  // without a branch
            const T value = values[k];
            values[count] = value;
            indices[count] = k;
            count += !(value == 0);
        }
        return {values, indices, count};
    }

    static void convert(const Rows& rows, std::int64_t from, std::int32_t length, T* to) {
        if (rows.singles)
            convert(rows.singles + from, rows.centre, length, to);
        else
            convert(rows.doubles + from, rows.centre, length, to);
    }

    template <class S>
    static void convert(const S* from, const double* centre, std::int32_t length, T* to) {
        if (centre)
            for (std::int32_t k = 0; k < length; ++k) to[k] = static_cast<T>(from[k] - centre[k]);
        else
            for (std::int32_t k = 0; k < length; ++k) to[k] = static_cast<T>(from[k]);
    }

    std::vector<T> values_, norms_;
    std::vector<std::int32_t> indices_;
    std::vector<Row<T>> rows_;
    std::int32_t count_ = 0;
    double touched_ = 0;  // of no use, but the compiler must not know
};

}  // namespace budgetsvm
