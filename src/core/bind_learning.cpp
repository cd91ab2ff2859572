// SPDX-License-Identifier: BSD-3-Clause
// Phase 1 and budget maintenance for Python: see bindings.cpp.
#include "bsca.hpp"
#include "bsgd.hpp"
#include "learning_arguments.hpp"

namespace budgetsvm {
namespace {

using Result = std::tuple<std::int32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          double, double, double>;

Result result(std::int32_t size, const Tally& tally) {
    return {size,         tally.steps,       tally.violations, tally.mistakes,
            tally.merges, tally.degradation, tally.loss,       tally.lost};
}

// Common to both solvers: `run` gets the visits and the model.
template <class T, class Run>
Result solve(const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms_arg,
             std::int32_t size, std::int32_t budget, const KernelArg& kernel_arg,
             const MaintenanceArg& maintenance_arg, const BatchArg& batch_arg, Run run) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    const Visits visits = unpack_visits(rows, problem, terms.features);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    const auto [batch_size, n_threads] = unpack_batch(batch_arg, kernel);
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
    const Tally tally = with_maintenance(maintenance_arg, kernel, terms, [&](auto& maintenance) {
        nb::gil_scoped_release release;
        Team team(std::min(n_threads, batch.most_tiles()),
                  [&](std::int32_t i) { batch.evaluate(i, visits.rows, terms); });
        Expansion<T, std::decay_t<decltype(maintenance)>> model{
            terms, maintenance, batch, team, unlimited ? terms.capacity : budget, batch_size};
        return run(visits, model);
    });
    return result(terms.size, tally);
}

// `t` visits were made before, of n_total training points.
void check_rate(std::int64_t t, double n_total) {
    require(t >= 0 && n_total > 0 && std::isfinite(n_total),
            "t must not be negative, n_total must be positive");
}

// Both solvers for several outputs; `t` and n_total are those of BSGD, n_total = 0 means BSCA.
template <class T>
Result joint(const RowsArg& rows_arg, const Array<const std::int64_t, 1>& order,
             const Array<const double, 1>& diagonal, const WantedArg& wanted_arg,
             const TermsArg<T>& terms_arg, std::int32_t size, Array<double, 2> coef,
             Array<double, 1> bias, std::int32_t budget, const KernelArg& kernel_arg,
             const MaintenanceArg& maintenance, std::int64_t t, double n_total) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    const Rows rows = unpack_rows(rows_arg, terms.features);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    const Wanted wanted = unpack_wanted(wanted_arg);
    check_indices(order, std::get<4>(wanted_arg).shape(0),
                  "an index in the visiting order is out of range");
    const auto outputs = static_cast<std::size_t>(wanted.outputs);
    require(static_cast<std::int64_t>(order.shape(0)) == rows.count &&
                diagonal.shape(0) == order.shape(0) && coef.shape(1) == outputs &&
                coef.shape(0) >= static_cast<std::size_t>(terms.capacity) &&
                (bias.shape(0) == 0 || bias.shape(0) == outputs),
            "arrays of the problem differ in length");
    check_budget(terms, budget);
    if (n_total != 0) check_rate(t, n_total);
    JointModel<T> model(kernel, terms, coef.data(), bias.shape(0) ? bias.data() : nullptr,
                        wanted.outputs, budget, unpack_maintenance(maintenance, kernel));
    nb::gil_scoped_release release;
    const Tally tally =
        n_total > 0
            ? joint_bsgd(rows, order.data(), diagonal.data(), wanted, kernel, model, t, n_total)
            : joint_bsca(rows, order.data(), diagonal.data(), wanted, kernel, model);
    return result(terms.size, tally);
}

// Calls reduce() until there are no more terms than the budget allows, or for as often as is a
// bounded amount of work. Returns the new size and the sum of what it returned.
template <class T, class Reduce>
std::tuple<std::int32_t, double> reduce_some(const Terms<T>& terms, std::int32_t budget,
                                             Reduce reduce) {
    constexpr int most = 128;
    double degradation = 0;
    for (int i = 0; i < most && terms.size > budget; ++i) degradation += reduce();
    return {terms.size, degradation};
}

template <class T>
std::tuple<std::int32_t, double> reduce(const TermsArg<T>& terms_arg, std::int32_t size,
                                        const KernelArg& kernel_arg,
                                        const MaintenanceArg& maintenance_arg,
                                        std::int32_t budget) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    require(budget >= 0, "the budget must not be negative");
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    Batch<T> empty(kernel, terms, 1, false);
    return with_maintenance(maintenance_arg, kernel, terms, [&](auto& maintenance) {
        nb::gil_scoped_release release;
        return reduce_some(terms, budget, [&] { return maintenance.reduce(terms, empty); });
    });
}

// The same for terms with a row of coefficients each.
template <class T>
std::tuple<std::int32_t, double> joint_reduce(const TermsArg<T>& terms_arg, std::int32_t size,
                                              Array<double, 2> coef, const KernelArg& kernel_arg,
                                              const MaintenanceArg& maintenance_arg,
                                              std::int32_t budget) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    require(budget >= 0, "the budget must not be negative");
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    const std::int32_t outputs = checked_length(coef.shape(1));
    require(outputs >= 1 && coef.shape(0) >= static_cast<std::size_t>(terms.capacity),
            "rows of coefficients and terms differ in length");
    JointModel<T> model(kernel, terms, coef.data(), nullptr, outputs, budget,
                        unpack_maintenance(maintenance_arg, kernel));
    nb::gil_scoped_release release;
    return reduce_some(terms, budget, [&] { return model.reduce(false); });
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    // Never convert an array: what is written to the copy would be lost.
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def(
        "bsca",
        [](const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance, const BatchArg& batch) {
            return solve<T>(rows, problem, terms, size, budget, kernel, maintenance, batch,
                            [](const auto& visits, auto& model) { return bsca(visits, model); });
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"), arg("batch"));
    m.def(
        "bsgd",
        [](const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance, const BatchArg& batch, std::int64_t t,
           double n_total) {
            check_rate(t, n_total);
            return solve<T>(
                rows, problem, terms, size, budget, kernel, maintenance, batch,
                [=](const auto& visits, auto& model) { return bsgd(visits, model, t, n_total); });
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"), arg("batch"), arg("t"), arg("n_total"));
    m.def("joint", &joint<T>, array("rows"), array("order"), array("diagonal"), array("wanted"),
          array("terms"), arg("size"), array("coef"), array("bias"), arg("budget"), arg("kernel"),
          arg("maintenance"), arg("t"), arg("n_total"));
    m.def("reduce", &reduce<T>, array("terms"), arg("size"), arg("kernel"), arg("maintenance"),
          arg("budget"));
    m.def("joint_reduce", &joint_reduce<T>, array("terms"), arg("size"), array("coef"),
          arg("kernel"), arg("maintenance"), arg("budget"));
}

}  // namespace

void bind_learning(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
