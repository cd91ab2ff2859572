// SPDX-License-Identifier: BSD-3-Clause
// A view on the rows of a data matrix, as the user has them.
#pragma once

#include <cstdint>

namespace budgetsvm {

// A selection of rows of a matrix that the user owns: dense (row-major) or compressed sparse rows,
// in single or double precision. evaluate/points.hpp copies them, a few at a time, in the precision
// of the computation.
struct Rows {
    const float* singles;  // one of these two is null
    const double* doubles;
    const std::int32_t* indices;  // null: dense
    const std::int64_t* starts;
    const std::int64_t* chosen;  // row r is row chosen[r] of the matrix; null: row r
    const double* centre;        // to be subtracted from dense rows; null: nothing
    std::int64_t count;
    std::int64_t stored;  // entries of all sparse rows
    std::int32_t features;

    std::int64_t position(std::int64_t r) const { return chosen ? chosen[r] : r; }

    // Where row r begins among the values, and how many it has.
    std::int64_t start(std::int64_t r) const {
        const std::int64_t i = position(r);
        return indices ? starts[i] : i * features;
    }
    std::int32_t length(std::int64_t r) const {
        if (!indices) return features;
        const std::int64_t i = position(r);
        return static_cast<std::int32_t>(starts[i + 1] - starts[i]);
    }

    // Read something of every cache line of a row, so that it is at hand when needed. The rows of a
    // visiting order are all over the memory; prefetch instructions do not help, as the CPU may
    // drop them where the page is not at hand either.
    double touch(std::int64_t r) const {
        const std::int64_t from = start(r), to = from + length(r);
        double sum = 0;
        for (std::int64_t i = from; singles && i < to; i += 16) sum += singles[i];
        for (std::int64_t i = from; doubles && i < to; i += 8) sum += doubles[i];
        for (std::int64_t i = from; indices && i < to; i += 16) sum += indices[i];
        return sum;
    }
};

}  // namespace budgetsvm
