// SPDX-License-Identifier: BSD-3-Clause
// Several outputs with one set of terms: f_c(x) = sum_j beta_jc k(x, z_j) for c = 1..k. A term has
// a row of coefficients, and a kernel value serves all outputs. The classes of a classifier, each
// against the rest, are outputs; so are the targets of a regression.
//
// Both solvers visit a point for all outputs at once: the steps of its outputs make one row, and
// one term. Maintenance is that of a single output, with inner products of rows in place of
// products of coefficients.
#pragma once

#include "joint_model.hpp"
#include "points.hpp"
#include "tally.hpp"

namespace budgetsvm {

// What the training points ask for: the class that each belongs to, or a target for every output.
struct Wanted {
    const std::int32_t* labels;  // null: regression
    const double* targets;       // (points, outputs), or one number for all
    const double* box;           // C_i
    float* alpha;                // (points, outputs)
    std::int32_t outputs;
    Loss loss;
    bool coupled;  // the outputs of a point in one problem: see coupled_step

    double sign(std::int64_t i, std::int32_t c) const {
        return !labels || labels[i] == c ? 1.0 : -1.0;
    }
    double target(std::int64_t i, std::int32_t c) const {
        return labels ? targets[0] : targets[i * outputs + c];
    }
    float& variable(std::int64_t i, std::int32_t c) const { return alpha[i * outputs + c]; }
};

// Calls visit(r, i, point, norm) for row r of the block and its training point i.
template <class T, class Visit>
void for_each_visit(const Rows& rows, const std::int64_t* order, const Kernel& kernel,
                    Visit visit) {
    PointBlock<T> block;
    for (std::int64_t start = 0; start < rows.count; start += points_at_once) {
        const auto count =
            static_cast<std::int32_t>(std::min<std::int64_t>(points_at_once, rows.count - start));
        block.load(rows, start, count, kernel);
        for (std::int32_t p = 0; p < count; ++p)
            visit(start + p, order[start + p], block.row(p), block.norm(p));
    }
}

// One visit: `step` gives for each output what to add to its variable, from its value and slack.
template <class T, class Step>
double visit_outputs(const Wanted& wanted, std::int64_t i, Row<T> x, T norm, JointModel<T>& model,
                     Tally& tally, std::vector<double>& row, double scale, Step step) {
    const double* f = model.evaluate(x, norm);
    bool violated = false, moved = false;
    std::int32_t best = 0;
    for (std::int32_t c = 0; c < wanted.outputs; ++c) {
        const double sign = wanted.sign(i, c), slack = wanted.target(i, c) - sign * f[c] * scale;
        violated = violated || wanted.loss.violated(slack);
        tally.loss += wanted.loss.value(slack);
        if (f[c] > f[best]) best = c;
        const double delta = step(c, slack);
        row[static_cast<std::size_t>(c)] = sign * delta;
        moved = moved || delta != 0;
    }
    tally.violations += violated;
    tally.mistakes += wanted.labels ? best != wanted.labels[i] : violated;
    return moved ? model.insert(x, norm, row.data(), tally) : 0.0;
}

// The problem of Weston & Watkins: the output of a point's class is to exceed every other one by 1,
// each at the price of a hinge loss. What `step` gives for an output c that is not the class, from
// its slack, is added to the coefficient of the class and taken from that of c. With a curvature,
// the outputs of a point depend on each other, so that a few rounds over them are needed.
template <class T, class Step>
double coupled_visit(const Wanted& wanted, std::int64_t i, Row<T> x, T norm, JointModel<T>& model,
                     Tally& tally, std::vector<double>& row, double scale, double curvature,
                     Step step) {
    constexpr int rounds = 4;
    constexpr double settled = 1e-3;
    const double* f = model.evaluate(x, norm);
    const std::int32_t own = wanted.labels[i];
    std::fill(row.begin(), row.end(), 0.0);
    bool violated = false, mistaken = false;
    double largest = 1;
    for (int round = 0; round < rounds && largest > settled; ++round) {
        largest = 0;
        for (std::int32_t c = 0; c < wanted.outputs; ++c) {
            if (c == own) continue;
            const double first = 1 - scale * (f[own] - f[c]);
            const double delta = step(c, first - curvature * (row[own] - row[c]));
            row[own] += delta;
            row[c] -= delta;
            if (curvature > 0) largest = std::max(largest, std::fabs(delta));
            if (round > 0) continue;
            violated = violated || wanted.loss.violated(first);
            mistaken = mistaken || f[c] >= f[own];
            tally.loss += wanted.loss.value(first);
        }
    }
    tally.violations += violated;
    tally.mistakes += mistaken;
    for (const double value : row)
        if (value != 0) return model.insert(x, norm, row.data(), tally);
    return 0;
}

// BSCA, with the steps of Algorithm 1 for all outputs of a point at once. A coupled variable
// alpha_c in [0, C] has the curvature 2 k(x, x).
template <class T>
Tally joint_bsca(const Rows& rows, const std::int64_t* order, const double* diagonal,
                 const Wanted& wanted, const Kernel& kernel, JointModel<T>& model) {
    Tally tally;
    std::vector<double> row(static_cast<std::size_t>(wanted.outputs));
    for_each_visit<T>(rows, order, kernel, [&](std::int64_t r, std::int64_t i, Row<T> x, T norm) {
        const double curvature = (wanted.coupled ? 2 : 1) * diagonal[r];
        const auto step = [&](std::int32_t c, double slack) {
            float& alpha = wanted.variable(i, c);
            const double before = alpha;
            alpha = static_cast<float>(wanted.loss.step(before, slack, curvature, wanted.box[i]));
            return alpha - before;
        };
        tally.degradation +=
            wanted.coupled
                ? coupled_visit(wanted, i, x, norm, model, tally, row, 1.0, diagonal[r], step)
                : visit_outputs(wanted, i, x, norm, model, tally, row, 1.0, step);
    });
    return tally;
}

// BSGD, eq. (4), with coefficients stored as t times their value: see bsgd.hpp.
template <class T>
Tally joint_bsgd(const Rows& rows, const std::int64_t* order, const double* diagonal,
                 const Wanted& wanted, const Kernel& kernel, JointModel<T>& model, std::int64_t t,
                 double n_total) {
    Tally tally;
    std::vector<double> row(static_cast<std::size_t>(wanted.outputs));
    for_each_visit<T>(rows, order, kernel, [&](std::int64_t r, std::int64_t i, Row<T> x, T norm) {
        const double before = static_cast<double>(t + r), now = before + 1;
        const double scale = before > 0 ? 1 / before : 0.0;
        const double rate = n_total * wanted.box[i], stiffness = rate / now * diagonal[r];
        const auto step = [&](std::int32_t, double slack) {
            return rate * wanted.loss.bounded_slope(slack, stiffness);
        };
        tally.degradation +=
            (wanted.coupled ? coupled_visit(wanted, i, x, norm, model, tally, row, scale, 0.0, step)
                            : visit_outputs(wanted, i, x, norm, model, tally, row, scale, step)) /
            (now * now);
    });
    return tally;
}

}  // namespace budgetsvm
