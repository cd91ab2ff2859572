// SPDX-License-Identifier: BSD-3-Clause
// Dual coordinate ascent for a kernel machine on a working set whose kernel values are at hand: the
// coordinate that promises most has its turn, and the values f of all rows follow each step
// (Steinwart, Hush & Scovel, JMLR 2011, for machines without an offset). What other rows contribute
// to f is there to begin with, and does not change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace budgetsvm {

template <class T>
struct WorkingSet {
    const T* gram;  // (size, size), symmetric
    const double* y;
    const double* targets;
    const double* box;
    double* alpha;
    double* f;
    std::int32_t size;
};

struct Climb {
    std::int64_t steps = 0;
    double violation = 0;  // the largest at the end
};

// How far a gradient is from what it may be at the optimum.
template <class Loss>
double violation(const Loss& loss, double alpha, double slack, double C) {
    const double size = loss.side(alpha, slack) * alpha;
    const double gradient = loss.gradient(alpha, slack, C);
    if (size <= 0) return std::max(0.0, gradient);
    if (size >= loss.bound(C)) return std::max(0.0, -gradient);
    return std::fabs(gradient);
}

// Climb until no violation exceeds the precision, or for so many steps. The loss is one of
// model/losses.hpp.
template <class Loss, class T>
Climb climb(const Loss& loss, const WorkingSet<T>& set, double precision, std::int64_t most_steps) {
    const auto row = [&](std::int32_t i) {
        return set.gram + static_cast<std::int64_t>(i) * set.size;
    };
    const auto slack = [&](std::int32_t i) { return set.targets[i] - set.y[i] * set.f[i]; };
    std::vector<double> weights(static_cast<std::size_t>(set.size));
    for (std::int32_t i = 0; i < set.size; ++i) {
        const double curvature = row(i)[i];
        weights[i] = curvature > 0 ? 1 / std::sqrt(curvature) : 1.0;
    }
    Climb result;
    for (;;) {
        std::int32_t best = -1;
        double most = 0;
        result.violation = 0;
        for (std::int32_t i = 0; i < set.size; ++i) {
            const double one = violation(loss, set.alpha[i], slack(i), set.box[i]);
            result.violation = std::max(result.violation, one);
            const double promise = one * weights[i];
            if (promise > most) best = i, most = promise;
        }
        if (best < 0 || result.violation <= precision || result.steps >= most_steps) return result;
        double& alpha = set.alpha[best];
        const T* column = row(best);
        const double target = loss.exact_step(alpha, slack(best), column[best], set.box[best]);
        const double change = set.y[best] * (target - alpha);
        if (change == 0) return result;  // but for rounding, there was a step to take
        alpha = target;
        for (std::int32_t i = 0; i < set.size; ++i) set.f[i] += change * column[i];
        ++result.steps;
    }
}

}  // namespace budgetsvm
