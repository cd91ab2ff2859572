// SPDX-License-Identifier: BSD-3-Clause
// Sums over the panels of a row that has but some of them, in double, of what may be stored in
// single precision. Included by leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "leaf/leaf.hpp"
#include "leaf/pack.hpp"

namespace budgetsvm {
namespace {

template <class T>
double panels_dot(const T* values, const std::int32_t* numbers, std::int32_t count,
                  const double* coef) {
    constexpr int width = pack_size<double>, unrolled = 4;
    static_assert(lanes<T> % (width * unrolled) == 0, "a panel is taken so many packs at a time");
    Pack<double> sums[unrolled] = {};
    for (std::int32_t b = 0; b < count; ++b) {
        const T* some = values + static_cast<std::int64_t>(b) * lanes<T>;
        const double* their = coef + static_cast<std::int64_t>(numbers[b]) * lanes<T>;
        BUDGETSVM_UNROLL
        for (int k = 0; k < lanes<T>; k += width)
            sums[k / width % unrolled] =
                sums[k / width % unrolled] + load(their + k) * widen(some + k);
    }
    return total((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <class T>
void add_panels(double scale, const T* values, const std::int32_t* numbers, std::int32_t count,
                double* sums) {
    constexpr int width = pack_size<double>;
    const Pack<double> factor = spread(scale);
    for (std::int32_t b = 0; b < count; ++b) {
        const T* some = values + static_cast<std::int64_t>(b) * lanes<T>;
        double* to = sums + static_cast<std::int64_t>(numbers[b]) * lanes<T>;
        BUDGETSVM_UNROLL
        for (int k = 0; k < lanes<T>; k += width)
            store(to + k, load(to + k) + factor * widen(some + k));
    }
}

template <class T>
void add_outer(double scale, const T* a, const T* b, double* out, std::int64_t stride) {
    constexpr int width = pack_size<double>;
    double wide[lanes<T>];
    BUDGETSVM_UNROLL
    for (int k = 0; k < lanes<T>; k += width) store(wide + k, widen(b + k));
    for (int l = 0; l < lanes<T>; ++l) {
        const Pack<double> factor = spread(scale * a[l]);
        double* to = out + l * stride;
        BUDGETSVM_UNROLL
        for (int k = 0; k < lanes<T>; k += width)
            store(to + k, load(to + k) + factor * load(wide + k));
    }
}

}  // namespace
}  // namespace budgetsvm
