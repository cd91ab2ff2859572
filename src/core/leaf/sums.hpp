// SPDX-License-Identifier: BSD-3-Clause
// Sums over arrays, in a fixed order whatever the instruction set's neighbour does. Included by
// leaf.cpp only, and internal to it: see the note there.
#pragma once

#include <cstdint>

#include "leaf/pack.hpp"

namespace budgetsvm {
namespace {

template <class T>
double sum(const double* coef, const T* values, std::int32_t count) {
    constexpr int width = pack_size<double>, unrolled = 4, step = width * unrolled;
    Pack<double> sums[unrolled] = {};
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        BUDGETSVM_UNROLL
        for (int i = 0; i < unrolled; ++i)
            sums[i] = sums[i] + load(coef + j + i * width) * widen(values + j + i * width);
    }
    double all = total((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; j < count; ++j) all += coef[j] * values[j];
    return all;
}

struct Multiply {
    template <class V>
    static V of(V a, V b) {
        return a * b;
    }
};
struct SquaredDifference {
    template <class V>
    static V of(V a, V b) {
        return (a - b) * (a - b);
    }
};

template <class Operation, class T>
T sum_over(const T* a, const T* b, std::int32_t count) {
    constexpr int width = pack_size<T>, unrolled = 4, step = width * unrolled;
    Pack<T> sums[unrolled] = {};
    std::int32_t k = 0;
    for (; k + step <= count; k += step) {
        BUDGETSVM_UNROLL
        for (int i = 0; i < unrolled; ++i)
            sums[i] = sums[i] + Operation::of(load(a + k + i * width), load(b + k + i * width));
    }
    for (; k + width <= count; k += width)
        sums[0] = sums[0] + Operation::of(load(a + k), load(b + k));
    T all = total((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; k < count; ++k) all += Operation::of(a[k], b[k]);
    return all;
}

template <class T>
void axpy(T scale, const T* x, T* y, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) y[k] += scale * x[k];
}

}  // namespace
}  // namespace budgetsvm
