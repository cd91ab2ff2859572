// SPDX-License-Identifier: BSD-3-Clause
// What the training points ask for where there are several outputs.
#pragma once

#include <cstdint>

#include "model/loss.hpp"

namespace budgetsvm {

// The class that each point belongs to, or a target for every output.
struct JointTargets {
    const std::int32_t* labels;  // null: regression
    const double* targets;       // (points, outputs), or one number for all
    const double* box;           // C_i
    float* alpha;                // (points, outputs)
    std::int32_t outputs;
    Loss loss;
    bool coupled;  // the outputs of a point in one problem: see joint_solve.hpp

    double sign(std::int64_t i, std::int32_t c) const {
        return !labels || labels[i] == c ? 1.0 : -1.0;
    }
    double target(std::int64_t i, std::int32_t c) const {
        return labels ? targets[0] : targets[i * outputs + c];
    }
    float& variable(std::int64_t i, std::int32_t c) const { return alpha[i * outputs + c]; }
};

}  // namespace budgetsvm
