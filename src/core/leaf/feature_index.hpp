// SPDX-License-Identifier: BSD-3-Clause
// Sparse terms by feature: which terms have it, and with which value. A point is evaluated against
// all of them by looking at the features that it has, so that the cost is that of the entries which
// points and terms have in common. A feature of few terms is a list, one of many a column with a
// value, zero perhaps, for every term. Sums come out the same, bit by bit.
#pragma once

#include <cstdint>

#include "leaf/distances.hpp"

namespace budgetsvm {

// A term that has the feature, and where the next one is; -1: there is none.
template <class T>
struct Posting {
    T value;
    std::int32_t term, next;
};

struct Feature {
    std::int32_t number;  // -1: this place in the table is free
    std::int32_t first;   // posting; -1: none, or it has a column
    std::int32_t column;  // -1: it has a list
    std::int32_t count;   // terms that have it
};

template <class T>
struct FeatureIndex {
    const Feature* table;  // open addressing, a power of two of places, at least one of them free
    const Posting<T>* postings;
    const T* columns;  // (columns, stride)
    std::int64_t stride;
    int shift;  // 32 less the logarithm of the table's size

    // The place of a feature, or the free one where it would be.
    BUDGETSVM_INLINE std::int64_t place(std::int32_t number) const {
        const std::uint32_t last = 0xffffffffu >> shift;
        std::uint32_t at = (static_cast<std::uint32_t>(number) * 2654435769u) >> shift;
        while (table[at].number != number && table[at].number >= 0) at = (at + 1) & last;
        return at;
    }
};

}  // namespace budgetsvm
