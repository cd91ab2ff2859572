// SPDX-License-Identifier: BSD-3-Clause
// The dual of two classes of a classifier, with the hinge loss, on the kernel matrix of all rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "polish/block_dual.hpp"

namespace budgetsvm {

// Two classes of a classifier, from no model; beta and residuals are those of the first class, then
// of the second.
template <class T>
BlockSolution solve_pair(const PairBlocks<T>& blocks, const double* box, double* beta,
                         double* residual, double tolerance, std::int64_t most_rounds) {
    const auto n = static_cast<std::size_t>(blocks.size()),
               n_first = static_cast<std::size_t>(blocks.n_first);
    std::vector<double> targets(n, -1.0), lower(n, 0.0), upper(n, 0.0);
    std::vector<std::int64_t> ages(n, 0);
    double costs[2] = {0, 0};
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_first = i < n_first;
        const auto k = static_cast<std::int64_t>(i);
        const double C =
            box[is_first ? blocks.first.begin + k : blocks.second.begin + k - blocks.n_first];
        costs[is_first ? 0 : 1] += C;
        if (is_first) targets[i] = 1.0;
        (is_first ? upper : lower)[i] = is_first ? C : -C;
        beta[i] = 0, residual[i] = targets[i];
    }
    // What the best constant model costs: each label is off by 2 from the other.
    const GapScale scale{std::min({costs[0] + costs[1], 2 * costs[0], 2 * costs[1]}), 0.0};
    const Variables variables{beta, residual, lower.data(), upper.data(), 0.0};
    BlockDual<T, PairBlocks<T>> problem(blocks, targets.data(), variables, scale, ages.data());
    return problem.solve(tolerance, most_rounds);
}

}  // namespace budgetsvm
