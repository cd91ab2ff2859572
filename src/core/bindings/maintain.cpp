// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by itself: see module.cpp.
#include "bindings/maintenance_arguments.hpp"

namespace budgetsvm {
namespace {

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
    check_movable(terms);
    const Kernel kernel = unpack_kernel(kernel_arg, terms);
    Batch<T> empty(kernel, terms, 1, false);
    return with_maintenance<T>(maintenance_arg, kernel, [&](auto type, const auto& options) {
        typename decltype(type)::type maintenance(kernel, terms, options);
        nb::gil_scoped_release release;
        terms.prepare();
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
    check_movable(terms);
    const Kernel kernel = unpack_kernel(kernel_arg, terms);
    const std::int32_t outputs = checked_length(coef.shape(1));
    require(outputs >= 1 && coef.shape(0) >= static_cast<std::size_t>(terms.capacity),
            "rows of coefficients and terms differ in length");
    JointTerms<T> model{terms, coef.data(), outputs};
    return with_maintenance<T>(maintenance_arg, kernel, [&](auto type, const auto& options) {
        typename decltype(type)::type::Joint maintenance(kernel, terms, options);
        nb::gil_scoped_release release;
        terms.prepare();
        return reduce_some(terms, budget, [&] { return maintenance.reduce(model, nullptr); });
    });
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def("reduce", &reduce<T>, array("terms"), arg("size"), arg("kernel"), arg("maintenance"),
          arg("budget"));
    m.def("joint_reduce", &joint_reduce<T>, array("terms"), arg("size"), array("coef"),
          arg("kernel"), arg("maintenance"), arg("budget"));
}

}  // namespace

void bind_maintenance(nb::module_& m) {
    using nb::arg;
    bind<float>(m);
    bind<double>(m);
    m.def(
        "merge_point",
        [](double rho, double L, bool golden) {
            const MergePoint point =
                golden ? golden_merge_point(rho, L) : newton_merge_point(rho, L);
            return std::make_tuple(point.h, point.value, point.degradation);
        },
        arg("rho"), arg("L"), arg("golden") = false);
    m.def(
        "joint_merge_point",
        [](double rho, double cosine, double L, int iterations, bool golden) {
            const JointPoint point = golden ? golden_joint_point(rho, cosine, L)
                                            : joint_merge_point(rho, cosine, L, iterations);
            return std::make_tuple(point.h, point.degradation);
        },
        arg("rho"), arg("cosine"), arg("L"), arg("iterations") = 40, arg("golden") = false);
    m.def(
        "table_degradation",
        [](double rho, double L) { return rho * rho * DegradationTable::instance().cost(rho, L); },
        arg("rho"), arg("L"));
}

}  // namespace budgetsvm
