// SPDX-License-Identifier: BSD-3-Clause
// What the gap between P and D is measured by.
#pragma once

#include <algorithm>

namespace budgetsvm {

// What a gap is measured by: see _problem/targets.py.
struct GapScale {
    double trivial;   // what no model at all costs
    double hopeless;  // what any model costs

    double operator()(double primal, double dual) const {
        const double rest = std::max(primal - (hopeless < primal ? hopeless : 0.0), 1e-6 * primal);
        return std::max(std::min(rest, 3 * (trivial - dual)), 1e-3 * rest);
    }
};

}  // namespace budgetsvm
