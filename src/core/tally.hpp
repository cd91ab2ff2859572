// SPDX-License-Identifier: BSD-3-Clause
// What a call of a solver did, and the problem it worked on.
#pragma once

#include <cstdint>

#include "loss.hpp"
#include "views.hpp"

namespace budgetsvm {

// A block of visits: row r of `rows` is training point order[r]; y, targets, box and alpha belong
// to all training points, diagonal (k(x, x)) to the rows of the block.
struct Visits {
    Rows rows;
    const std::int64_t* order;
    const double* diagonal;
    const double* y;  // the signs of loss.hpp: labels -1, +1
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

struct Tally {
    std::int64_t steps = 0;       // visits that changed the model
    std::int64_t violations = 0;  // visits with a loss; of the hinge loss, y f(x) < 1
    std::int64_t mistakes = 0;  // visits with y f(x) <= 0, before the step; regression: violations
    std::int64_t merges = 0;    // runs of budget maintenance
    double degradation = 0;     // sum of the ||dw||^2 that maintenance caused
    double loss = 0;            // sum of the losses, before the step
    double lost = 0;            // sum of the degradations as shares of beta^2, of the step before

    // A visit of training point i that found this slack.
    void count(const Visits& visits, std::int64_t i, double slack) {
        violations += visits.loss.violated(slack);
        mistakes += visits.loss.mistaken(visits.target(i), slack);
        loss += visits.loss.value(slack);
    }
};

}  // namespace budgetsvm
