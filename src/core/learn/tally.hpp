// SPDX-License-Identifier: BSD-3-Clause
// What a call of a solver did.
#pragma once

#include <cstdint>

namespace budgetsvm {

struct Tally {
    std::int64_t steps = 0;       // visits that changed the model
    std::int64_t violations = 0;  // visits with a loss; of the hinge loss, y f(x) < 1
    std::int64_t mistakes = 0;  // visits with y f(x) <= 0, before the step; regression: violations
    std::int64_t merges = 0;    // runs of budget maintenance
    double degradation = 0;     // sum of the ||dw||^2 that maintenance caused
    double loss = 0;            // sum of the losses, before the step
    double lost = 0;            // sum of the degradations as shares of beta^2, of the step before

    // A visit to a point with this target that found this slack.
    template <class Loss>
    void count(const Loss& of, double target, double slack) {
        violations += of.violated(slack);
        mistakes += of.mistaken(target, slack);
        loss += of.value(slack);
    }
};

}  // namespace budgetsvm
