// SPDX-License-Identifier: BSD-3-Clause
// Bounds of kernel values from distances of points to extents, lanes along the extents. Included by
// leaf.cpp only, and internal to it: see the note there.
//
// As with distances to terms, a sum over the entries of x alone: what they add to the distance d_0
// of the origin, which is known. No partial sum exceeds d + 2 d_0, d being the distance of x, and
// an entry adds less than four roundings of that: so much is taken off, and something for the rest.
#pragma once

#include "leaf/exp.hpp"
#include "leaf/leaf.hpp"
#include "leaf/pack.hpp"

namespace budgetsvm {
namespace {

template <class Distance, bool sparse, class T>
inline void distances_to_extents(Row<T> x, const T* low, const T* high, Pack<T>* sums) {
    constexpr int n = lanes<T> / pack_size<T>;
    for (std::int32_t e = 0; e < x.count; ++e) {
        const std::int64_t start = static_cast<std::int64_t>(sparse ? x.indices[e] : e) * lanes<T>;
        const Pack<T> value = spread(x.values[e]), zero{};
        BUDGETSVM_UNROLL
        for (int i = 0; i < n; ++i) {
            const Pack<T> from = load(low + start + i * pack_size<T>),
                          to = load(high + start + i * pack_size<T>),
                          gap = greater(greater(from - value, value - to), zero),
                          without = greater(greater(from, zero - to), zero);
            sums[i] = sums[i] + (Distance::of_gap(gap) - Distance::of_gap(without));
        }
    }
}

template <class Distance, class T>
inline void bounds_of_extents(Row<T> x, const Extents<T>& extents, std::int32_t first, T gamma,
                              T* out) {
    constexpr int n = lanes<T> / pack_size<T>;
    constexpr T rounding = T(1) / (std::int64_t{2} << Exp<T>::mantissa);
    const std::int64_t start = static_cast<std::int64_t>(first) * extents.features;
    Pack<T> sums[n] = {};
    if (x.indices)
        distances_to_extents<Distance, true>(x, extents.low + start, extents.high + start, sums);
    else
        distances_to_extents<Distance, false>(x, extents.low + start, extents.high + start, sums);
    const T error = (4 * static_cast<T>(x.count) + 16) * rounding;
    const Pack<T> scale = spread(gamma * (1 - error)), off = spread(2 * gamma * error);
    BUDGETSVM_UNROLL
    for (int i = 0; i < n; ++i) {
        const Pack<T> zero = load(extents.of_zero + first + i * pack_size<T>),
                      weights = load(extents.weights + first + i * pack_size<T>);
        const Pack<T> bound = scale * (zero + sums[i]) - off * zero - weights;
        store(out + i * pack_size<T>, greater(bound, spread(T(-1e30))));  // instead of NaN, too
    }
}

template <class Distance, class T>
void to_extents(Points<T> x, Extents<T> extents, T gamma, T* out) {
    const std::int32_t width = extents.padded_count();
    for (std::int32_t first = 0; first < width; first += lanes<T>)
        for (std::int32_t q = 0; q < x.count; ++q)
            bounds_of_extents<Distance>(x.rows[q], extents, first, gamma,
                                        out + static_cast<std::int64_t>(q) * width + first);
}

template <class T>
std::int32_t below(const T* values, std::int32_t count, T limit, std::int32_t* found) {
    std::int32_t n = 0;
    for (std::int32_t start = 0; start < count; start += pack_size<T>) {
        const Pack<T> some = load(values + start);
        for (unsigned bits = less_bits(some, spread(limit)); bits; bits &= bits - 1)
            found[n++] = start + first_bit(bits);
    }
    return n;
}

}  // namespace
}  // namespace budgetsvm
