// SPDX-License-Identifier: BSD-3-Clause
// The loop of all solvers (solve.hpp), for several outputs with one set of terms: f_c(x) = sum_j
// beta_jc k(x, z_j) for c = 1..k. A term has a row of coefficients, and a kernel value serves all
// outputs. The classes of a classifier, each against the rest, are outputs; so are the targets of a
// regression.
//
// A point is visited for all outputs at once: the steps of its outputs make one row, and one term.
// Maintenance is that of a single output, with inner products of rows in place of products of
// coefficients.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "evaluate/points.hpp"
#include "learn/joint_model.hpp"
#include "learn/joint_targets.hpp"

namespace budgetsvm {

// Row r of `rows` is training point order[r], and has k(x, x) = diagonal[r].
struct JointVisits {
    Rows rows;
    const std::int64_t* order;
    const double* diagonal;
    JointTargets targets;
};

template <class Solver, class T, class Maintenance>
class JointSolve {
  public:
    JointSolve(const JointVisits& visits, JointModel<T, Maintenance>& model, Solver solver)
        : visits_(visits),
          targets_(visits.targets),
          model_(model),
          solver_(solver),
          row_(static_cast<std::size_t>(visits.targets.outputs)) {}

    // Visit all rows in order.
    Tally run(const Kernel& kernel) {
        const Rows& rows = visits_.rows;
        PointBlock<T> block;
        for (std::int64_t start = 0; start < rows.count; start += points_at_once) {
            const auto count = static_cast<std::int32_t>(
                std::min<std::int64_t>(points_at_once, rows.count - start));
            block.load(rows, start, count, kernel);
            for (std::int32_t p = 0; p < count; ++p) visit(start + p, block.row(p), block.norm(p));
        }
        return tally_;
    }

  private:
    void visit(std::int64_t r, Row<T> x, T norm) {
        const std::int64_t i = visits_.order[r];
        solver_.begin(r, targets_.box[i], visits_.diagonal[r], targets_.coupled);
        const double* f = model_.evaluate(x, norm);
        const bool moved = targets_.loss.visit([&](const auto& loss) {
            return targets_.coupled ? coupled_steps(loss, i, visits_.diagonal[r], f)
                                    : steps(loss, i, f);
        });
        if (moved)
            tally_.degradation += solver_.degradation(model_.insert(x, norm, row_.data(), tally_));
    }

    // row_ := the steps of all outputs, each by itself. Returns whether there is one.
    template <class Loss>
    bool steps(const Loss& loss, std::int64_t i, const double* f) {
        const double scale = solver_.scale();
        bool violated = false, moved = false;
        std::int32_t best = 0;
        for (std::int32_t c = 0; c < targets_.outputs; ++c) {
            const double sign = targets_.sign(i, c);
            const double slack = targets_.target(i, c) - sign * f[c] * scale;
            violated = violated || loss.violated(slack);
            tally_.loss += loss.value(slack);
            if (f[c] > f[best]) best = c;
            const double delta = solver_.step(loss, targets_.variable(i, c), slack);
            row_[static_cast<std::size_t>(c)] = sign * delta;
            moved = moved || delta != 0;
        }
        tally_.violations += violated;
        tally_.mistakes += targets_.labels ? best != targets_.labels[i] : violated;
        return moved;
    }

    // The same for the problem of Weston & Watkins: the output of a point's class is to exceed
    // every other one by 1, each at the price of a hinge loss. The step of an output c that is not
    // the class is added to the coefficient of the class and taken from that of c. Where steps see
    // each other, a few rounds over the outputs are needed.
    template <class Loss>
    bool coupled_steps(const Loss& loss, std::int64_t i, double diagonal, const double* f) {
        constexpr int rounds = 4;
        constexpr double settled = 1e-3;
        const double scale = solver_.scale(), curvature = Solver::one_by_one ? diagonal : 0.0;
        const std::int32_t own = targets_.labels[i];
        std::fill(row_.begin(), row_.end(), 0.0);
        bool violated = false, mistaken = false;
        double largest = 1;
        for (int round = 0; round < rounds && largest > settled; ++round) {
            largest = 0;
            for (std::int32_t c = 0; c < targets_.outputs; ++c) {
                if (c == own) continue;
                const double first = 1 - scale * (f[own] - f[c]);
                const double slack = first - curvature * (row_[own] - row_[c]);
                const double delta = solver_.step(loss, targets_.variable(i, c), slack);
                row_[own] += delta;
                row_[c] -= delta;
                if (curvature > 0) largest = std::max(largest, std::fabs(delta));
                if (round > 0) continue;
                violated = violated || loss.violated(first);
                mistaken = mistaken || f[c] >= f[own];
                tally_.loss += loss.value(first);
            }
        }
        tally_.violations += violated;
        tally_.mistakes += mistaken;
        return std::any_of(row_.begin(), row_.end(), [](double value) { return value != 0; });
    }

    const JointVisits& visits_;
    const JointTargets& targets_;
    JointModel<T, Maintenance>& model_;
    Solver solver_;
    std::vector<double> row_;
    Tally tally_;
};

}  // namespace budgetsvm
