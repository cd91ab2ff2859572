// SPDX-License-Identifier: BSD-3-Clause
// Sums over arrays, in a fixed order whatever the instruction set's neighbour does; and over groups
// of rows, in double, of what may be stored in single precision. Included by leaf.cpp only, and
// internal to it: see the note there.
#pragma once

#include "leaf/leaf.hpp"
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

// Ask for the cache lines that hold the entries from j on of the next group. Spread over the work
// on this group: more requests at once than the core has buffers for would stall it.
template <class T>
inline void prefetch_next(const T* const* rows, std::int32_t j) {
#if defined(__GNUC__)
    BUDGETSVM_UNROLL
    for (int i = 0; i < group_size; ++i) __builtin_prefetch(rows[group_size + i] + j);
#endif
}

template <class T>
void dots(const T* const* rows, const double* coef, std::int32_t count, double* out) {
    constexpr int width = pack_size<double>, unrolled = 2, line = 64 / sizeof(T);
    constexpr int step = line > width * unrolled ? line : width * unrolled;
    Pack<double> sums[group_size][unrolled] = {};
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        prefetch_next(rows, j);
        BUDGETSVM_UNROLL
        for (int k = 0; k < step; k += width) {
            const Pack<double> factor = load(coef + j + k);
            BUDGETSVM_UNROLL
            for (int i = 0; i < group_size; ++i) {
                Pack<double>& sum = sums[i][k / width % unrolled];
                sum = sum + factor * widen(rows[i] + j + k);
            }
        }
    }
    for (int i = 0; i < group_size; ++i) {
        out[i] = total(sums[i][0] + sums[i][1]);
        for (std::int32_t k = j; k < count; ++k) out[i] += coef[k] * rows[i][k];
    }
}

template <class T>
void add_rows(const double* scale, const T* const* rows, std::int32_t count, double* sums) {
    constexpr int width = pack_size<double>, line = 64 / sizeof(T);
    constexpr int step = line > width ? line : width;
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        prefetch_next(rows, j);
        BUDGETSVM_UNROLL
        for (int k = 0; k < step; k += width) {
            Pack<double> sum = load(sums + j + k);
            BUDGETSVM_UNROLL
            for (int i = 0; i < group_size; ++i)
                sum = sum + spread(scale[i]) * widen(rows[i] + j + k);
            store(sums + j + k, sum);
        }
    }
    for (; j < count; ++j)
        for (int i = 0; i < group_size; ++i) sums[j] += scale[i] * rows[i][j];
}

}  // namespace
}  // namespace budgetsvm
