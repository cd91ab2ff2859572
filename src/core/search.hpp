// SPDX-License-Identifier: BSD-3-Clause
// Searches through arrays: the smallest, and those that may be cheap to merge with. Included by
// leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "leaf.hpp"
#include "pack.hpp"

namespace budgetsvm {
namespace {

// The smallest value or, if `magnitude`, the smallest absolute value.
template <bool magnitude, class T>
T least_of(const T* values, std::int32_t count) {
    constexpr int width = pack_size<T>, unrolled = 4, step = width * unrolled;
    const auto size = [](T value) { return magnitude && value < 0 ? -value : value; };
    const auto sizes = [](Pack<T> some) { return magnitude ? absolute(some) : some; };
    Pack<T> least[unrolled];
    BUDGETSVM_UNROLL
    for (int i = 0; i < unrolled; ++i) least[i] = spread(size(values[0]));
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        BUDGETSVM_UNROLL
        for (int i = 0; i < unrolled; ++i)
            least[i] = lesser(least[i], sizes(load(values + j + i * width)));
    }
    const Pack<T> all = lesser(lesser(least[0], least[1]), lesser(least[2], least[3]));
    T minimum = all[0];
    for (int i = 1; i < width; ++i) minimum = all[i] < minimum ? all[i] : minimum;
    for (; j < count; ++j) minimum = size(values[j]) < minimum ? size(values[j]) : minimum;
    return minimum;
}

// Its index, the first of equals.
template <bool magnitude, class T>
std::int32_t index_of_least(const T* values, std::int32_t count) {
    constexpr int width = pack_size<T>, step = 4 * width;
    const T minimum = least_of<magnitude>(values, count);
    const Pack<T> bound = spread(minimum);
    const auto at = [values](std::int32_t j) {
        return magnitude ? absolute(load(values + j)) : load(values + j);
    };
    constexpr unsigned all_larger = (1u << width) - 1;
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        const Pack<T> least =
            lesser(lesser(at(j), at(j + width)), lesser(at(j + 2 * width), at(j + 3 * width)));
        if (less_bits(bound, least) != all_larger) break;
    }
    while (j < count - 1 && minimum < (magnitude && values[j] < 0 ? -values[j] : values[j])) ++j;
    return j;
}

// Whether s(L) < cost (1 + |rho|)^2 may hold, lane by lane: see partner.hpp. With x = 2L,
//     s = 1 - exp(-x) (1 + x) >= p / (1 + x + p),   p = x^2/2 + x^3/6 + x^4/24,
// and rho = beta_a / beta_j, this needs neither exp nor a division.
template <class T>
inline unsigned may_be_cheaper(const T* distances, const double* coef, const Bound<T>& bound) {
    T sizes[pack_size<T>];
    for (int i = 0; i < pack_size<T>; ++i) sizes[i] = static_cast<T>(coef[i]);
    const Pack<T> size = absolute(load(sizes)), sum = size + spread(bound.size);
    const Pack<T> x = lesser(load(distances) * spread(bound.scale), spread(T(40)));
    const Pack<T> p = x * x * ((x * spread(T(1.0 / 24)) + spread(T(1.0 / 6))) * x + spread(T(0.5)));
    const Pack<T> most = spread(bound.cost) * sum * sum * (spread(T(1)) + x + p);
    return less_bits(p * size * size, most);
}

template <class T>
std::int32_t candidates(const T* distances, const double* coef, std::int32_t count, Bound<T> bound,
                        std::int32_t* found) {
    constexpr int width = pack_size<T>, step = 4 * width;
    const Pack<T> farthest = spread(bound.farthest);
    const auto at = [distances](std::int32_t j) { return load(distances + j); };
    std::int32_t n = 0, j = 0;
    for (; j + step <= count; j += step) {
        const Pack<T> least =
            lesser(lesser(at(j), at(j + width)), lesser(at(j + 2 * width), at(j + 3 * width)));
        if (!less_bits(least, farthest)) continue;
        for (std::int32_t k = j; k < j + step; k += width) {
            unsigned bits = less_bits(at(k), farthest);
            if (bits) bits &= may_be_cheaper(distances + k, coef + k, bound);
            for (std::int32_t i = k; bits; ++i, bits >>= 1)
                if (bits & 1) found[n++] = i;
        }
    }
    for (; j < count; ++j)
        if (distances[j] < bound.farthest) found[n++] = j;
    return n;
}

}  // namespace
}  // namespace budgetsvm
