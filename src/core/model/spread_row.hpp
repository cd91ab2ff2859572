// SPDX-License-Identifier: BSD-3-Clause
// A row whose features are looked up by number: spread out over all features or, where these are
// very many, in a table of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "leaf/leaf.hpp"

namespace budgetsvm {

template <class T>
class SpreadRow {
  public:
    SpreadRow(std::int32_t features, bool in_table) : features_(features), in_table_(in_table) {}

    void take(Row<T> x) {
        if (in_table_) return fill_table(x);
        values_.resize(static_cast<std::size_t>(features_));
        x.spread(values_.data());
    }

    // Before another is taken.
    void forget(Row<T> x) {
        for (std::int32_t e = 0; !in_table_ && e < x.count; ++e) values_[x.feature(e)] = T(0);
    }

    T operator[](std::int32_t feature) const {
        return values_[in_table_ ? place(feature) : feature];
    }

  private:
    void fill_table(Row<T> x) {
        int bits = 4;
        while ((std::int64_t{1} << bits) < 2 * static_cast<std::int64_t>(x.count)) ++bits;
        shift_ = 32 - bits;
        known_.assign(std::size_t{1} << bits, -1);
        values_.assign(std::size_t{1} << bits, T(0));
        for (std::int32_t e = 0; e < x.count; ++e) {
            const std::size_t at = place(x.feature(e));
            known_[at] = x.feature(e);
            values_[at] = x.values[e];
        }
    }

    // Of a feature, or a free one, whose value is 0.
    std::size_t place(std::int32_t feature) const {
        const std::size_t last = known_.size() - 1;
        std::size_t at = (static_cast<std::uint32_t>(feature) * 2654435769u) >> shift_;
        while (known_[at] != feature && known_[at] >= 0) at = (at + 1) & last;
        return at;
    }

    std::int32_t features_;
    bool in_table_;
    int shift_ = 0;
    std::vector<T> values_;
    std::vector<std::int32_t> known_;  // -1: free
};

}  // namespace budgetsvm
