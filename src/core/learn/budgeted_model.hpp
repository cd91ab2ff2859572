// SPDX-License-Identifier: BSD-3-Clause
// A model under a budget, and what solvers do to it: walk through the visits, and insert points.
// Without a budget every training point has a term of its own.
#pragma once

#include <algorithm>

#include "evaluate/batch.hpp"
#include "evaluate/thread_team.hpp"
#include "learn/tally.hpp"
#include "learn/visits.hpp"

namespace budgetsvm {

template <class T, class Maintenance>
struct BudgetedModel {
    Terms<T>& terms;
    Maintenance& maintenance;
    Batch<T>& batch;
    ThreadTeam& team;             // its tasks evaluate the tiles of the batch
    std::int32_t budget;          // no limit: the capacity
    std::int32_t batch_size;      // as the batch has room for
    volatile double touched = 0;  // of no use, but the compiler must not know

    // Calls visit(r, f(x_r)) for all visits in order, f as it is stored; it may insert() the point.
    template <class Visit>
    void walk(const Visits& visits, Visit visit) {
        for (std::int64_t start = 0; start < visits.count; start += batch_size) {
            const auto count =
                static_cast<std::int32_t>(std::min<std::int64_t>(batch_size, visits.count - start));
            batch.open(start, count);
            touched = visits.touch(start, start + count);
            team.run(batch.n_tiles());
            for (std::int32_t p = 0; p < count; ++p) {
                batch.advance_to(p, terms);
                visit(start + p, batch.value() + (visits.bias ? *visits.bias : 0.0));
            }
        }
    }

    // Add beta k(x_r, .) for the current visit r, and reduce the model where that exceeds the
    // budget. Returns the degradation.
    double insert(const Visits& visits, std::int64_t r, double beta, Tally& tally) {
        ++tally.steps;
        if (visits.bias) *visits.bias += beta;
        if (visits.slots) {
            batch.add_current(beta);
            return add_to_slot(visits.slots[visits.order[r]], beta);
        }
        batch.append(terms.size);
        terms.append(batch.norm(), beta);
        double degradation = 0;
        if (terms.size > budget) {
            ++tally.merges;
            degradation = maintenance.reduce(terms, batch);
            tally.lost += degradation / (beta * beta);
        }
        batch.place_pending(terms);
        return degradation;
    }

  private:
    // Without a budget every training point has a term of its own, once it was inserted.
    double add_to_slot(std::int32_t& slot, double beta) {
        if (slot >= 0) {
            terms.coef[slot] += beta;
        } else {
            slot = terms.size;
            terms.append(batch.norm(), beta);
            terms.place(slot, batch.point());
        }
        return 0;
    }
};

}  // namespace budgetsvm
