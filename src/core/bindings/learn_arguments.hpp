// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the solvers of phase 1.
#pragma once

#include "bindings/arguments.hpp"
#include "learn/joint_solve.hpp"
#include "learn/visits.hpp"

namespace budgetsvm {

using BatchArg = std::tuple<std::int32_t, int>;  // points, threads
using ProblemArg =
    std::tuple<LossArg, Array<const std::int64_t, 1>, Array<const double, 1>,
               Array<const double, 1>, Array<const double, 1>, Array<const double, 1>,
               Array<double, 1>, Array<std::int32_t, 1>, Array<double, 1>>;
// loss, whether outputs are coupled, labels (or none), targets, box, alpha
using JointTargetsArg = std::tuple<LossArg, bool, Array<const std::int32_t, 1>,
                                   Array<const double, 2>, Array<const double, 1>, Array<float, 2>>;

// Terms must fit, with one more for the point that is inserted before maintenance has its turn.
template <class T>
void check_budget(const Terms<T>& terms, std::int32_t budget) {
    require(1 <= budget && budget < terms.capacity, "no room for the terms");
    require(terms.size <= budget, "the model exceeds the budget");
}

inline BatchArg unpack_batch(const BatchArg& arg, const Kernel& kernel) {
    constexpr std::int32_t most = 1 << 16;
    const auto& [points, threads] = arg;
    require(1 <= points && points <= most,
            "the batch size must be positive, and no more than 65536");
    require(threads >= 1, "there must be a thread");
    // A Python function sees the terms only, and not the other points of a batch.
    if (kernel.sees_only_terms()) return {1, 1};
    return {points, std::min(threads, points)};
}

// Without a budget, what is visited has its term among those there are, or none yet.
inline void check_slots(const Visits& visits, std::int32_t size) {
    for (std::int64_t r = 0; r < visits.count; ++r) {
        const std::int32_t slot = visits.slots[visits.order[r]];
        require(-1 <= slot && slot < size, "the slot of a training point is out of range");
    }
}

inline Visits unpack_visits(const RowsArg& rows_arg, const ProblemArg& problem,
                            std::int32_t features) {
    const auto& [loss, order, diagonal, y, targets, box, alpha, slots, bias] = problem;
    Visits visits{unpack_rows(rows_arg, features),
                  order.data(),
                  diagonal.data(),
                  y.data(),
                  targets.data(),
                  box.data(),
                  alpha.data(),
                  unpack_loss(loss),
                  static_cast<std::int64_t>(order.shape(0)),
                  slots.shape(0) ? slots.data() : nullptr,
                  bias.shape(0) ? bias.data() : nullptr,
                  targets.shape(0) == 1 ? 0 : 1};
    const std::size_t n = y.shape(0);
    require(visits.rows.count == visits.count && diagonal.shape(0) == order.shape(0) &&
                (targets.shape(0) == 1 || targets.shape(0) == n) && box.shape(0) == n &&
                alpha.shape(0) == n && (!visits.slots || slots.shape(0) == n) && bias.shape(0) <= 1,
            "arrays of the problem differ in length");
    check_indices(order, n, "an index in the visiting order is out of range");
    return visits;
}

inline bool couples_classes(const Loss& loss) {
    return loss.visit([](const auto& one) { return one.couples_classes; });
}

inline JointTargets unpack_targets(const JointTargetsArg& arg) {
    const auto& [loss, coupled, labels, targets, box, alpha] = arg;
    const std::size_t n = box.shape(0);
    const std::int32_t outputs = checked_length(alpha.shape(1));
    const bool classes = labels.shape(0) > 0;
    require(outputs >= 1 && alpha.shape(0) == n, "arrays of the problem differ in length");
    require(classes ? labels.shape(0) == n && targets.shape(0) == 1 && targets.shape(1) >= 1
                    : targets.shape(0) == n && targets.shape(1) == alpha.shape(1),
            "labels or targets have the wrong shape");
    const JointTargets joint{classes ? labels.data() : nullptr,
                             targets.data(),
                             box.data(),
                             alpha.data(),
                             outputs,
                             unpack_loss(loss),
                             coupled};
    require(!coupled || (classes && couples_classes(joint.loss)),
            "only the outputs of classes can be coupled, by the hinge loss");
    for (std::size_t i = 0; i < labels.shape(0); ++i)
        require(0 <= labels.data()[i] && labels.data()[i] < outputs, "a label is out of range");
    return joint;
}

inline JointVisits unpack_joint_visits(const RowsArg& rows_arg,
                                       const Array<const std::int64_t, 1>& order,
                                       const Array<const double, 1>& diagonal,
                                       const JointTargetsArg& targets, std::int32_t features) {
    const JointVisits visits{unpack_rows(rows_arg, features), order.data(), diagonal.data(),
                             unpack_targets(targets)};
    check_indices(order, std::get<4>(targets).shape(0),
                  "an index in the visiting order is out of range");
    require(static_cast<std::int64_t>(order.shape(0)) == visits.rows.count &&
                diagonal.shape(0) == order.shape(0),
            "arrays of the problem differ in length");
    return visits;
}

}  // namespace budgetsvm
