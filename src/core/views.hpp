// SPDX-License-Identifier: BSD-3-Clause
// Views on the rows of a data matrix. A row is a list of (feature, value) pairs; a dense row is one
// whose features are 0, 1, 2, ... So dense and sparse data share every algorithm.
#pragma once

#include <cstdint>

namespace budgetsvm {

template <class T>
struct Row {
    const T* values;
    const std::int32_t* indices;  // null: dense, values[k] belongs to feature k
    std::int32_t count;

    std::int32_t feature(std::int32_t entry) const { return indices ? indices[entry] : entry; }
};

// A block of rows: dense (row-major) if `indices` is null, else compressed sparse rows.
template <class T>
struct Rows {
    const T* values;
    const std::int32_t* indices;
    const std::int64_t* starts;
    std::int64_t count;
    std::int32_t features;

    Row<T> operator[](std::int64_t i) const {
        if (!indices) return {values + i * features, nullptr, features};
        const std::int64_t start = starts[i];
        return {values + start, indices + start, static_cast<std::int32_t>(starts[i + 1] - start)};
    }
};

}  // namespace budgetsvm
