// SPDX-License-Identifier: BSD-3-Clause
// What a call of a solver did, and the problem it worked on.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace budgetsvm {

// A margin this close to 1 is 1: the point was visited just before. Without this, rounding would
// decide what counts as a step.
constexpr double rounding = 1e-12;

struct Tally {
    std::int64_t steps = 0;       // visits that changed the model
    std::int64_t violations = 0;  // visits with y f(x) < 1
    std::int64_t mistakes = 0;    // visits with y f(x) <= 0, before the step
    std::int64_t merges = 0;      // runs of budget maintenance
    double degradation = 0;       // sum of the ||dw||^2 that maintenance caused
    double loss = 0;              // sum of max(0, 1 - y f(x)), before the step

    // A visit that found this margin y f(x).
    void count(double margin) {
        violations += margin < 1 - rounding;
        mistakes += margin <= 0;
        loss += margin < 1 ? 1 - margin : 0.0;
    }
};

// A block of visits: row r of `rows` is training point order[r]; y, box and alpha belong to all
// training points, diagonal (k(x, x)) to the rows of the block.
struct Visits {
    Rows rows;
    const std::int64_t* order;
    const double* diagonal;
    const double* y;    // labels -1, +1
    const double* box;  // upper bounds C_i
    double* alpha;
    std::int64_t count;

    // Without a budget: the term that belongs to each training point, -1 if there is none yet. Null
    // with a budget, where terms lose their origin.
    std::int32_t* slots;

    // Read the variables of visits [start, stop): see Rows::touch.
    double touch(std::int64_t start, std::int64_t stop) const {
        double sum = 0;
        for (std::int64_t r = start; r < stop; ++r)
            sum += y[order[r]] + box[order[r]] + alpha[order[r]];
        return sum;
    }
};

}  // namespace budgetsvm
