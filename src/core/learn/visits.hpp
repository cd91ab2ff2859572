// SPDX-License-Identifier: BSD-3-Clause
// The visits that a call of a solver makes, and the problem that they belong to: one output.
#pragma once

#include <cstdint>

#include "model/loss.hpp"
#include "model/rows.hpp"

namespace budgetsvm {

// A block of visits: row r of `rows` is training point order[r]; y, targets, box and alpha belong
// to all training points, diagonal (k(x, x)) to the rows of the block.
struct Visits {
    Rows rows;
    const std::int64_t* order;
    const double* diagonal;
    const double* y;  // the signs of losses.hpp: labels -1, +1
    const double* targets;
    const double* box;  // C_i
    double* alpha;
    Loss loss;
    std::int64_t count;

    // Without a budget: the term that belongs to each training point, -1 if there is none yet. Null
    // with a budget, where terms lose their origin.
    std::int32_t* slots;

    // The bias b of f + b, or null if there is none. A constant feature: it is in every step.
    double* bias;

    std::int64_t target_stride;  // 0: one target for all

    double target(std::int64_t i) const { return targets[i * target_stride]; }

    double slack(std::int64_t i, double value) const { return target(i) - y[i] * value; }

    // Read the variables of visits [start, stop): see Rows::touch.
    double touch(std::int64_t start, std::int64_t stop) const {
        double sum = 0;
        for (std::int64_t r = start; r < stop; ++r)
            sum += y[order[r]] + target(order[r]) + box[order[r]] + alpha[order[r]];
        return sum;
    }
};

}  // namespace budgetsvm
