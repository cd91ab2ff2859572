// SPDX-License-Identifier: BSD-3-Clause
// Points against sparse terms. Included by leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "leaf/leaf.hpp"

namespace budgetsvm {
namespace {

struct PlainMath {
    template <class T>
    static T absolute(T x) {
        return x < 0 ? -x : x;
    }
};

// sums[j] := what the features add that x and term j have in common, in the order of those of x.
template <class Operation, class T>
inline void sum_overlaps(Row<T> x, const FeatureIndex<T>& terms, std::int32_t count, T* sums) {
    for (std::int32_t j = 0; j < count; ++j) sums[j] = 0;
    for (std::int32_t e = 0; e < x.count; ++e) {
        const T value = x.values[e];
        if (value == 0) continue;
        const Feature feature = terms.table[terms.place(x.feature(e))];
        if (feature.number < 0) continue;
        if (feature.column >= 0) {
            const T* column = terms.columns + feature.column * terms.stride;
            for (std::int32_t j = 0; j < count; ++j)
                sums[j] = Operation::template overlap<PlainMath>(sums[j], value, column[j]);
        }
        for (std::int32_t p = feature.first; p >= 0; p = terms.postings[p].next) {
            const Posting<T> other = terms.postings[p];
            sums[other.term] =
                Operation::template overlap<PlainMath>(sums[other.term], value, other.value);
        }
    }
}

template <class Distance, class T>
void sparse_distances(Row<T> x, T x_norm, FeatureIndex<T> terms, const T* norms, std::int32_t count,
                      T* out) {
    sum_overlaps<Distance>(x, terms, count, out);
    for (std::int32_t j = 0; j < count; ++j) {
        const T distance = Distance::of_overlaps(x_norm, norms[j], out[j]);
        out[j] = distance > 0 ? distance : T(0);
    }
}

// The overlaps of squared distances are products.
template <class T>
void sparse_dot(Row<T> x, FeatureIndex<T> terms, std::int32_t count, T* out) {
    sum_overlaps<SquaredEuclidean>(x, terms, count, out);
}

}  // namespace
}  // namespace budgetsvm
