// SPDX-License-Identifier: BSD-3-Clause
// Kernel values of two groups of rows with each other, in one of two forms: what block_dual.hpp
// looks rows up in.
#pragma once

#include <cstdint>

#include "polish/class_range.hpp"

namespace budgetsvm {

// The kernel matrix of two groups of rows, the second of which may be empty, in four blocks.
template <class T>
struct KernelBlocks {
    const T* first;   // (n_first, n_first), or as many rows as are held
    const T* cross;   // (n_first, n_second)
    const T* back;    // (n_second, n_first), its transpose
    const T* second;  // (n_second, n_second)
    std::int64_t n_first, n_second;
    // Where `first` has each of its rows, negative for those that it lacks; none: in their order.
    const std::int32_t* places = nullptr;

    std::int32_t size() const { return static_cast<std::int32_t>(n_first + n_second); }
    bool holds(std::int64_t i) const { return !places || i >= n_first || places[i] >= 0; }
    const T* with_first(std::int64_t i) const {
        if (i >= n_first) return back + (i - n_first) * n_first;
        return first + (places ? places[i] : i) * n_first;
    }
    const T* with_second(std::int64_t i) const {
        return i < n_first ? cross + i * n_second : second + (i - n_first) * n_second;
    }
};

// That of two classes within the kernel matrix of all rows, in which the rows of each class follow
// each other.
template <class T>
struct PairBlocks {
    const T* values;  // (n, n)
    std::int64_t n;
    ClassRange first, second;
    std::int64_t n_first, n_second;

    std::int32_t size() const { return static_cast<std::int32_t>(n_first + n_second); }
    bool holds(std::int64_t) const { return true; }
    const T* row(std::int64_t i) const {
        return values + (i < n_first ? first.begin + i : second.begin + i - n_first) * n;
    }
    const T* with_first(std::int64_t i) const { return row(i) + first.begin; }
    const T* with_second(std::int64_t i) const { return row(i) + second.begin; }
};

}  // namespace budgetsvm
