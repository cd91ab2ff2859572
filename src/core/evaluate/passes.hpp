// SPDX-License-Identifier: BSD-3-Clause
// Passes over the rows k_i of a matrix that is held in memory, all of them or some:
//     products  <k_i, v>,   sums of rows  sum_i v_i k_i,   and both at once  sum_i c_i <k_i, v>
//     k_i.
// They are limited by the memory, not by arithmetic: a row is read once, and summed in double.
#pragma once

#include <cstdint>

#include "leaf/leaf.hpp"

namespace budgetsvm {

template <class T>
struct ChosenRows {
    const T* values;             // (any number, width), row-major
    const std::int64_t* chosen;  // which rows
    std::int64_t count;
    std::int32_t width;

    const T* operator[](std::int64_t i) const { return values + chosen[i] * width; }
};

template <class T>
void prefetch(const T* row, std::int32_t width) {
#if defined(__GNUC__)
    for (std::int32_t k = 0; k < width; k += 64 / static_cast<int>(sizeof(T)))
        __builtin_prefetch(row + k);
#endif
}

// Calls action(first, rows, size) for groups of rows, each with the pointers of the next group
// after its own; a group that is not full repeats the last row.
template <class T, class Action>
void for_groups(const ChosenRows<T>& all, Action action) {
    for (std::int64_t first = 0; first < all.count; first += group_size) {
        const T* rows[2 * group_size];
        for (int i = 0; i < 2 * group_size; ++i)
            rows[i] = all[first + i < all.count ? first + i : all.count - 1];
        const std::int64_t left = all.count - first;
        action(first, rows, static_cast<int>(left < group_size ? left : group_size));
    }
}

// out_i = <k_i, v>
template <class T>
void times(const ChosenRows<T>& rows, const double* v, double* out) {
    for_groups(rows, [&](std::int64_t first, const T* const* group, int size) {
        double products[group_size];
        leaf<T>().dots(group, v, rows.width, products);
        for (int i = 0; i < size; ++i) out[first + i] = products[i];
    });
}

// sums += sum_i scale_i k_i
template <class T>
void add_transposed_times(const ChosenRows<T>& rows, const double* scale, double* sums) {
    for_groups(rows, [&](std::int64_t first, const T* const* group, int size) {
        double factors[group_size] = {};
        for (int i = 0; i < size; ++i) factors[i] = scale[first + i];
        leaf<T>().add_rows(factors, group, rows.width, sums);
    });
}

// sums += sum_i scale_i <k_i, v> k_i
template <class T>
void add_normal_times(const ChosenRows<T>& rows, const double* scale, const double* v,
                      double* sums) {
    for_groups(rows, [&](std::int64_t first, const T* const* group, int size) {
        double factors[group_size];
        leaf<T>().dots(group, v, rows.width, factors);
        for (int i = 0; i < group_size; ++i) factors[i] *= i < size ? scale[first + i] : 0.0;
        leaf<T>().add_rows(factors, group, rows.width, sums);
    });
}

}  // namespace budgetsvm
