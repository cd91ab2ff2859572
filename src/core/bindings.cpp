// SPDX-License-Identifier: BSD-3-Clause
// The extension module budgetsvm._core: unpacks NumPy arrays, picks the instantiation, releases the
// GIL. All arrays belong to Python; results are written in place. Documented in _core.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <string>
#include <tuple>
#include <variant>

#include "ascent.hpp"
#include "bsca.hpp"
#include "bsgd.hpp"
#include "merge.hpp"
#include "passes.hpp"
#include "project.hpp"
#include "remove.hpp"

namespace nb = nanobind;
using namespace budgetsvm;

namespace {

template <class T, int dimensions>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

template <class T>
using RowsArg =
    std::variant<Array<const T, 2>, std::tuple<Array<const T, 1>, Array<const std::int32_t, 1>,
                                               Array<const std::int64_t, 1>>>;
template <class T>
using TermsArg = std::tuple<Array<T, 3>, Array<T, 1>, Array<double, 1>>;
using KernelArg = std::tuple<std::string, double, double, int, nb::object>;
using MaintenanceArg = std::tuple<std::string, bool, bool, int>;
using ProblemArg =
    std::tuple<Array<const std::int64_t, 1>, Array<const double, 1>, Array<const double, 1>,
               Array<const double, 1>, Array<double, 1>, Array<std::int32_t, 1>>;
using Result = std::tuple<std::int32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          double, double>;

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <class T>
Rows<T> unpack_rows(const RowsArg<T>& arg, std::int32_t features) {
    if (const auto* dense = std::get_if<0>(&arg)) {
        require(static_cast<std::int32_t>(dense->shape(1)) == features,
                "rows and terms differ in their number of features");
        return {dense->data(), nullptr, nullptr, static_cast<std::int64_t>(dense->shape(0)),
                features};
    }
    const auto& [values, indices, starts] = std::get<1>(arg);
    require(starts.shape(0) >= 1 && values.shape(0) == indices.shape(0), "broken sparse rows");
    return {values.data(), indices.data(), starts.data(),
            static_cast<std::int64_t>(starts.shape(0)) - 1, features};
}

template <class T>
Terms<T> unpack_terms(const TermsArg<T>& arg, std::int32_t size) {
    const auto& [panels, norms, coef] = arg;
    require(static_cast<std::int32_t>(panels.shape(2)) == lanes<T>, "panels have the wrong width");
    const auto capacity = static_cast<std::int32_t>(panels.shape(0)) * lanes<T>;
    require(static_cast<std::int32_t>(norms.shape(0)) == capacity &&
                static_cast<std::int32_t>(coef.shape(0)) == capacity,
            "panels, norms and coef differ in length");
    require(0 <= size && size <= capacity, "size exceeds the capacity");
    return {panels.data(), norms.data(), coef.data(),
            size,          capacity,     static_cast<std::int32_t>(panels.shape(1))};
}

KernelKind kernel_kind(const std::string& name) {
    const std::pair<const char*, KernelKind> kinds[] = {
        {"rbf", KernelKind::gaussian},    {"laplacian", KernelKind::laplacian},
        {"poly", KernelKind::polynomial}, {"sigmoid", KernelKind::sigmoid},
        {"linear", KernelKind::linear},   {"callable", KernelKind::callable},
    };
    for (const auto& [known, kind] : kinds)
        if (name == known) return kind;
    throw nb::value_error(("unknown kernel " + name).c_str());
}

// The callback borrows the Python function: the arguments of the call keep it alive.
Kernel unpack_kernel(const KernelArg& arg, std::int32_t features) {
    const auto& [name, gamma, coef0, degree, function] = arg;
    Kernel kernel{kernel_kind(name), gamma, coef0, degree, nullptr};
    if (kernel.kind != KernelKind::callable) return kernel;
    const nb::handle callee = function;
    kernel.callback = [callee, features](const double* x, std::int32_t size, double* out) {
        nb::gil_scoped_acquire gil;
        const std::size_t shape[1] = {static_cast<std::size_t>(features)};
        nb::ndarray<nb::numpy, const double> point(x, 1, shape, nb::handle());
        const auto values =
            nb::cast<Array<const double, 1>>(callee(nb::cast(point, nb::rv_policy::copy), size));
        require(static_cast<std::int32_t>(values.shape(0)) == size,
                "the kernel returned a wrong shape");
        std::copy(values.data(), values.data() + size, out);
    };
    return kernel;
}

// Calls action(maintenance) with the strategy asked for.
template <class T, class Action>
auto with_maintenance(const MaintenanceArg& arg, const Kernel& kernel, const Terms<T>& terms,
                      Scratch<T>& scratch, Action action) {
    const auto& [name, golden, same_sign, n_terms] = arg;
    if (name == "merge") {
        require(kernel.kind == KernelKind::gaussian, "merging needs the Gaussian kernel");
        Merge<T> merge(kernel, {golden, same_sign, n_terms}, scratch);
        return action(merge);
    }
    if (name == "project") {
        Project<T> project(kernel, terms);
        return action(project);
    }
    require(name == "remove", "unknown maintenance");
    Remove<T> remove(kernel);
    return action(remove);
}

template <class T>
Visits<T> unpack_visits(const RowsArg<T>& rows_arg, const ProblemArg& problem,
                        const Terms<T>& terms) {
    const auto& [order, diagonal, y, box, alpha, slots] = problem;
    Visits<T> visits{unpack_rows(rows_arg, terms.features),
                     order.data(),
                     diagonal.data(),
                     y.data(),
                     box.data(),
                     alpha.data(),
                     static_cast<std::int64_t>(order.shape(0)),
                     slots.shape(0) ? slots.data() : nullptr};
    const std::size_t n = y.shape(0);
    require(visits.rows.count == visits.count && diagonal.shape(0) == order.shape(0) &&
                box.shape(0) == n && alpha.shape(0) == n && (!visits.slots || slots.shape(0) == n),
            "arrays of the problem differ in length");
    for (std::int64_t r = 0; r < visits.count; ++r)
        require(visits.order[r] >= 0 && visits.order[r] < static_cast<std::int64_t>(n),
                "an index in the visiting order is out of range");
    return visits;
}

// Common to both solvers: `run` gets the visits and the model.
template <class T, class Run>
Result solve(const RowsArg<T>& rows, const ProblemArg& problem, const TermsArg<T>& terms_arg,
             std::int32_t size, std::int32_t budget, const KernelArg& kernel_arg,
             const MaintenanceArg& maintenance_arg, Run run) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    const Visits<T> visits = unpack_visits<T>(rows, problem, terms);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    const bool unlimited = budget <= 0;
    require(
        unlimited ? visits.slots && size + visits.count <= terms.capacity : budget < terms.capacity,
        "no room for the terms");
    Scratch<T> scratch(terms);
    const Tally tally =
        with_maintenance(maintenance_arg, kernel, terms, scratch, [&](auto& maintenance) {
            Expansion<T, std::decay_t<decltype(maintenance)>> model{
                kernel, terms, maintenance, scratch, unlimited ? terms.capacity : budget};
            nb::gil_scoped_release release;
            return run(visits, model);
        });
    return {terms.size,   tally.steps,       tally.violations, tally.mistakes,
            tally.merges, tally.degradation, tally.loss};
}

template <class T>
std::tuple<std::int32_t, double> reduce(const TermsArg<T>& terms_arg, std::int32_t size,
                                        const KernelArg& kernel_arg,
                                        const MaintenanceArg& maintenance_arg) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    require(size >= 1, "there is no term to reduce");
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    Scratch<T> scratch(terms);
    const double degradation =
        with_maintenance(maintenance_arg, kernel, terms, scratch,
                         [&](auto& maintenance) { return maintenance.reduce(terms); });
    return {terms.size, degradation};
}

// Calls use(r, kernel row of row r) for all rows, without the GIL.
template <class T, class Use>
void for_kernel_rows(const RowsArg<T>& rows_arg, const Terms<T>& terms, const KernelArg& kernel_arg,
                     std::size_t out_length, Use use) {
    const Rows<T> rows = unpack_rows(rows_arg, terms.features);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    require(static_cast<std::int64_t>(out_length) == rows.count, "out has the wrong length");
    Scratch<T> scratch(terms);
    nb::gil_scoped_release release;
    for (std::int64_t r = 0; r < rows.count; ++r) {
        const Row<T> x = rows[r];
        kernel.row(x, kernel.norm(x), terms, scratch);
        use(r, scratch.kernel_row.data());
    }
}

template <class T>
void decision(const RowsArg<T>& rows, const TermsArg<T>& terms_arg, std::int32_t size,
              const KernelArg& kernel, Array<double, 1> out) {
    const Terms<T> terms = unpack_terms(terms_arg, size);
    double* values = out.data();
    for_kernel_rows<T>(rows, terms, kernel, out.shape(0), [&](std::int64_t r, const T* row) {
        values[r] = leaf<T>().sum(terms.coef, row, terms.size);
    });
}

template <class T>
void kernel_block(const RowsArg<T>& rows, const TermsArg<T>& terms_arg, std::int32_t size,
                  const KernelArg& kernel, Array<T, 2> out) {
    const Terms<T> terms = unpack_terms(terms_arg, size);
    require(static_cast<std::int32_t>(out.shape(1)) == size, "out has the wrong width");
    T* values = out.data();
    for_kernel_rows<T>(rows, terms, kernel, out.shape(0), [&](std::int64_t r, const T* row) {
        std::copy(row, row + size, values + r * size);
    });
}

// The chosen rows of a block.
template <class T>
ChosenRows<T> unpack_chosen(const Array<const T, 2>& block,
                            const Array<const std::int64_t, 1>& chosen) {
    const auto n = static_cast<std::int64_t>(block.shape(0));
    const auto count = static_cast<std::int64_t>(chosen.shape(0));
    for (std::int64_t r = 0; r < count; ++r)
        require(chosen.data()[r] >= 0 && chosen.data()[r] < n, "a chosen row is out of range");
    return {block.data(), chosen.data(), count, static_cast<std::int32_t>(block.shape(1))};
}

// out_i = sum_j block_ij coef_j for the chosen rows, in double whatever the block is.
template <class T>
void times_block(Array<const T, 2> block, Array<const std::int64_t, 1> chosen,
                 Array<const double, 1> coef, Array<double, 1> out) {
    const ChosenRows<T> rows = unpack_chosen<T>(block, chosen);
    require(chosen.shape(0) == out.shape(0) && block.shape(1) == coef.shape(0), "shapes differ");
    nb::gil_scoped_release release;
    times(rows, coef.data(), out.data());
}

// sums_j += sum_i v_i block_ij over the chosen rows, in double.
template <class T>
void add_transposed_times_block(Array<const T, 2> block, Array<const std::int64_t, 1> chosen,
                                Array<const double, 1> v, Array<double, 1> sums) {
    const ChosenRows<T> rows = unpack_chosen<T>(block, chosen);
    require(chosen.shape(0) == v.shape(0) && block.shape(1) == sums.shape(0), "shapes differ");
    nb::gil_scoped_release release;
    add_transposed_times(rows, v.data(), sums.data());
}

// sums_j += sum_i weights_i <block_i, v> block_ij over the chosen rows, in double.
template <class T>
void add_normal_times_block(Array<const T, 2> block, Array<const std::int64_t, 1> chosen,
                            Array<const double, 1> weights, Array<const double, 1> v,
                            Array<double, 1> sums) {
    const ChosenRows<T> rows = unpack_chosen<T>(block, chosen);
    require(chosen.shape(0) == weights.shape(0) && block.shape(1) == sums.shape(0) &&
                block.shape(1) == v.shape(0),
            "shapes differ");
    nb::gil_scoped_release release;
    add_normal_times(rows, weights.data(), v.data(), sums.data());
}

template <class T>
std::tuple<std::int64_t, double, double> ascend_rows(
    Array<const T, 2> rows, Array<const T, 1> curvature, Array<const double, 1> y,
    Array<const double, 1> box, Array<double, 1> alpha, Array<T, 1> w, Array<std::int64_t, 1> order,
    double upper, double lower) {
    const auto n = static_cast<std::int64_t>(rows.shape(0));
    for (const std::size_t length : {curvature.shape(0), y.shape(0), box.shape(0), alpha.shape(0)})
        require(static_cast<std::int64_t>(length) == n, "arrays of the problem differ in length");
    require(w.shape(0) == rows.shape(1), "w has the wrong length");
    const auto count = static_cast<std::int64_t>(order.shape(0));
    for (std::int64_t r = 0; r < count; ++r)
        require(order.data()[r] >= 0 && order.data()[r] < n,
                "an index in the order is out of range");
    const LinearProblem<T> problem{rows.data(),
                                   curvature.data(),
                                   y.data(),
                                   box.data(),
                                   alpha.data(),
                                   w.data(),
                                   static_cast<std::int32_t>(rows.shape(1))};
    nb::gil_scoped_release release;
    const Pass pass = ascend(problem, order.data(), count, {upper, lower});
    return {pass.kept, pass.upper, pass.lower};
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    // Never convert an array: what is written to the copy would be lost.
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def(
        "bsca",
        [](const RowsArg<T>& rows, const ProblemArg& problem, const TermsArg<T>& terms,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance) {
            return solve<T>(rows, problem, terms, size, budget, kernel, maintenance,
                            [](const auto& visits, auto& model) { return bsca(visits, model); });
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"));
    m.def(
        "bsgd",
        [](const RowsArg<T>& rows, const ProblemArg& problem, const TermsArg<T>& terms,
           std::int32_t size, std::int32_t budget, const KernelArg& kernel,
           const MaintenanceArg& maintenance, std::int64_t t, double n_total) {
            return solve<T>(
                rows, problem, terms, size, budget, kernel, maintenance,
                [=](const auto& visits, auto& model) { return bsgd(visits, model, t, n_total); });
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"), arg("t"), arg("n_total"));
    m.def("ascend", &ascend_rows<T>, array("rows"), array("curvature"), array("y"), array("box"),
          array("alpha"), array("w"), array("order"), arg("upper"), arg("lower"));
    m.def("times", &times_block<T>, array("block"), array("chosen"), array("coef"), array("out"));
    m.def("add_transposed_times", &add_transposed_times_block<T>, array("block"), array("chosen"),
          array("v"), array("sums"));
    m.def("add_normal_times", &add_normal_times_block<T>, array("block"), array("chosen"),
          array("weights"), array("v"), array("sums"));
    m.def("reduce", &reduce<T>, array("terms"), arg("size"), arg("kernel"), arg("maintenance"));
    m.def("decision", &decision<T>, array("rows"), array("terms"), arg("size"), arg("kernel"),
          array("out"));
    m.def("kernel_block", &kernel_block<T>, array("rows"), array("terms"), arg("size"),
          arg("kernel"), array("out"));
}

}  // namespace

NB_MODULE(_core, m) {
    bind<float>(m);
    bind<double>(m);
    m.def(
        "merge_point",
        [](double rho, double L, bool golden) {
            const MergePoint point =
                golden ? golden_merge_point(rho, L) : newton_merge_point(rho, L);
            return std::make_tuple(point.h, point.value, point.degradation);
        },
        nb::arg("rho"), nb::arg("L"), nb::arg("golden") = false);
    m.def(
        "table_degradation",
        [](double rho, double L) { return rho * rho * DegradationTable::instance().cost(rho, L); },
        nb::arg("rho"), nb::arg("L"));
    m.def("level", [] { return std::string(level()); });
    m.attr("PANEL_BYTES") = 256;
}
