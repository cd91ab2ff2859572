// SPDX-License-Identifier: BSD-3-Clause
// What both solvers do to the model: evaluate it at a point, and insert a point under the budget.
#pragma once

#include "kernel.hpp"
#include "tally.hpp"

namespace budgetsvm {

template <class T, class Maintenance>
struct Expansion {
    const Kernel& kernel;
    Terms<T>& terms;
    Maintenance& maintenance;
    Scratch<T>& scratch;
    std::int32_t budget;  // no limit: the capacity

    // sum_j beta_j k(x, z_j)
    double value(Row<T> x, double norm) {
        if (terms.size == 0) return 0;
        kernel.row(x, norm, terms, scratch);
        return leaf<T>().sum(terms.coef, scratch.kernel_row.data(), terms.size);
    }

    // Add beta k(x_i, .), and reduce the model where that exceeds the budget. Returns the
    // degradation. value() was called for the same point just before.
    double insert(const Visits<T>& visits, std::int64_t r, double norm, double beta, Tally& tally) {
        ++tally.steps;
        if (visits.slots) {
            std::int32_t& slot = visits.slots[visits.order[r]];
            if (slot >= 0) {
                terms.coef[slot] += beta;
                return 0;
            }
            slot = terms.size;
        }
        terms.add(visits.rows[r], norm, beta);
        if (terms.size <= budget) return 0;
        ++tally.merges;
        scratch.row_of = terms.size - 1;
        return maintenance.reduce(terms);
    }
};

}  // namespace budgetsvm
