// SPDX-License-Identifier: BSD-3-Clause
// Phase 1: see module.cpp.
#include "bindings/learn_arguments.hpp"
#include "bindings/maintenance_arguments.hpp"
#include "learn/bsca.hpp"
#include "learn/bsgd.hpp"
#include "learn/solve.hpp"

namespace budgetsvm {
namespace {

using Result = std::tuple<std::int32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          double, double, double>;

Result result(std::int32_t size, const Tally& tally) {
    return {size,         tally.steps,       tally.violations, tally.mistakes,
            tally.merges, tally.degradation, tally.loss,       tally.lost};
}

// `t` visits were made before, of n_total training points.
Bsgd unpack_bsgd(std::int64_t t, double n_total) {
    require(t >= 0 && n_total > 0 && std::isfinite(n_total),
            "t must not be negative, n_total must be positive");
    return {t, n_total};
}

// One output.
template <class T, class Solver>
Result run(const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms_arg,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel_arg,
           const MaintenanceArg& maintenance_arg, const BatchArg& batch_arg, Solver solver) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    const Visits visits = unpack_visits(rows, problem, terms.features);
    check_room(visits.rows, terms);
    const Kernel kernel = unpack_kernel(kernel_arg, terms);
    const BatchArg batching = unpack_batch(batch_arg, kernel);
    const std::int32_t batch_size = std::get<0>(batching);  // lambdas capture no structured binding
    const std::int32_t n_threads = std::get<1>(batching);
    const bool unlimited = budget == 0;
    require(unlimited == (visits.slots != nullptr) || visits.count == 0,
            "without a budget, and only then, training points have slots");
    if (unlimited) {
        require(size + visits.count <= terms.capacity, "no room for the terms");
        check_slots(visits, size);
    } else {
        check_budget(terms, budget);
    }
    Batch<T> batch(kernel, terms, batch_size, !unlimited, n_threads);
    const Tally tally =
        with_maintenance<T>(maintenance_arg, kernel, [&](auto type, const auto& options) {
            using Maintenance = typename decltype(type)::type;
            Maintenance maintenance(kernel, terms, options);
            nb::gil_scoped_release release;
            terms.prepare();
            ThreadTeam team(std::min(n_threads, batch.most_tiles()),
                            [&](std::int32_t i) { batch.evaluate(i, visits.rows, terms); });
            BudgetedModel<T, Maintenance> model{
                terms, maintenance, batch, team, unlimited ? terms.capacity : budget, batch_size};
            return solve(visits, model, solver);
        });
    return result(terms.size, tally);
}

// Several outputs.
template <class T, class Solver>
Result run_joint(const RowsArg& rows, const Array<const std::int64_t, 1>& order,
                 const Array<const double, 1>& diagonal, const JointTargetsArg& targets,
                 const TermsArg<T>& terms_arg, std::int32_t size, Array<double, 2> coef,
                 Array<double, 1> bias, std::int32_t budget, const KernelArg& kernel_arg,
                 const MaintenanceArg& maintenance_arg, Solver solver) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    const Kernel kernel = unpack_kernel(kernel_arg, terms);
    const JointVisits visits = unpack_joint_visits(rows, order, diagonal, targets, terms.features);
    check_room(visits.rows, terms);
    const std::int32_t outputs = visits.targets.outputs;
    require(coef.shape(1) == static_cast<std::size_t>(outputs) &&
                coef.shape(0) >= static_cast<std::size_t>(terms.capacity) &&
                (bias.shape(0) == 0 || bias.shape(0) == coef.shape(1)),
            "arrays of the problem differ in length");
    check_budget(terms, budget);
    const Tally tally =
        with_maintenance<T>(maintenance_arg, kernel, [&](auto type, const auto& options) {
            using Maintenance = typename decltype(type)::type::Joint;
            Maintenance maintenance(kernel, terms, options);
            JointModel<T, Maintenance> model(kernel, {terms, coef.data(), outputs},
                                             bias.shape(0) ? bias.data() : nullptr, budget,
                                             maintenance);
            nb::gil_scoped_release release;
            terms.prepare();
            return JointSolve(visits, model, solver).run(kernel);
        });
    return result(terms.size, tally);
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def(
        "bsca",
        [](const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance, const BatchArg& batch) {
            return run<T>(rows, problem, terms, size, budget, kernel, maintenance, batch, Bsca());
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"), arg("batch"));
    m.def(
        "bsgd",
        [](const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance, const BatchArg& batch, std::int64_t t,
           double n_total) {
            return run<T>(rows, problem, terms, size, budget, kernel, maintenance, batch,
                          unpack_bsgd(t, n_total));
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"), arg("batch"), arg("t"), arg("n_total"));
    m.def(
        "joint",
        [](const RowsArg& rows, const Array<const std::int64_t, 1>& order,
           const Array<const double, 1>& diagonal, const JointTargetsArg& wanted,
           const TermsArg<T>& terms, std::int32_t size, Array<double, 2> coef,
           Array<double, 1> bias, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance, std::int64_t t, double n_total) {
            const auto by = [&](auto solver) {
                return run_joint<T>(rows, order, diagonal, wanted, terms, size, coef, bias, budget,
                                    kernel, maintenance, solver);
            };
            return n_total == 0 ? by(Bsca()) : by(unpack_bsgd(t, n_total));
        },
        array("rows"), array("order"), array("diagonal"), array("wanted"), array("terms"),
        arg("size"), array("coef"), array("bias"), arg("budget"), arg("kernel"), arg("maintenance"),
        arg("t"), arg("n_total"));
}

}  // namespace

void bind_learn(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
