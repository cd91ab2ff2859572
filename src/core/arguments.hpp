// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the extension's functions: types of NumPy arrays, and how they are unpacked.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "bsca.hpp"
#include "joint.hpp"
#include "merge.hpp"
#include "project.hpp"
#include "remove.hpp"

namespace budgetsvm {
namespace {

namespace nb = nanobind;

template <class T, int dimensions>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

template <class S>
using SparseArg =
    std::tuple<Array<const S, 1>, Array<const std::int32_t, 1>, Array<const std::int64_t, 1>>;
using MatrixArg = std::variant<Array<const float, 2>, Array<const double, 2>, SparseArg<float>,
                               SparseArg<double>>;
// A matrix, which of its rows (none: all), and what to subtract (none: nothing).
using RowsArg = std::tuple<MatrixArg, std::optional<Array<const std::int64_t, 1>>,
                           std::optional<Array<const double, 1>>>;
template <class T>
using TermsArg = std::tuple<Array<T, 3>, Array<T, 1>, Array<double, 1>>;
using KernelArg = std::tuple<std::string, double, double, int, nb::object>;
using MaintenanceArg = std::tuple<std::string, bool, bool, int>;
using BatchArg = std::tuple<std::int32_t, int>;   // points, threads
using LossArg = std::tuple<std::string, double>;  // name, epsilon
using ProblemArg =
    std::tuple<LossArg, Array<const std::int64_t, 1>, Array<const double, 1>,
               Array<const double, 1>, Array<const double, 1>, Array<const double, 1>,
               Array<double, 1>, Array<std::int32_t, 1>, Array<double, 1>>;
// loss, whether outputs are coupled, labels (or none), targets, box, alpha
using WantedArg = std::tuple<LossArg, bool, Array<const std::int32_t, 1>, Array<const double, 2>,
                             Array<const double, 1>, Array<float, 2>>;
using Result = std::tuple<std::int32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          double, double>;

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

void set_values(Rows& rows, const float* values) { rows.singles = values; }
void set_values(Rows& rows, const double* values) { rows.doubles = values; }

template <class S>
void unpack_matrix(Rows& rows, const Array<const S, 2>& dense) {
    require(static_cast<std::int32_t>(dense.shape(1)) == rows.features,
            "rows and terms differ in their number of features");
    set_values(rows, dense.data());
    rows.count = static_cast<std::int64_t>(dense.shape(0));
}

template <class S>
void unpack_matrix(Rows& rows, const SparseArg<S>& sparse) {
    const auto& [values, indices, starts] = sparse;
    require(starts.shape(0) >= 1 && values.shape(0) == indices.shape(0), "broken sparse rows");
    set_values(rows, values.data());
    rows.indices = indices.data();
    rows.starts = starts.data();
    rows.count = static_cast<std::int64_t>(starts.shape(0)) - 1;
}

Rows unpack_rows(const RowsArg& arg, std::int32_t features) {
    const auto& [matrix, chosen, centre] = arg;
    Rows rows{};
    rows.features = features;
    std::visit([&](const auto& some) { unpack_matrix(rows, some); }, matrix);
    if (centre) {
        require(!rows.indices && static_cast<std::int32_t>(centre->shape(0)) == features,
                "the centre does not fit to the rows");
        rows.centre = centre->data();
    }
    if (!chosen) return rows;
    for (std::size_t r = 0; r < chosen->shape(0); ++r)
        require(chosen->data()[r] >= 0 && chosen->data()[r] < rows.count,
                "the index of a row is out of range");
    rows.chosen = chosen->data();
    rows.count = static_cast<std::int64_t>(chosen->shape(0));
    return rows;
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
                      Action action) {
    const auto& [name, golden, same_sign, n_terms] = arg;
    if (name == "merge") {
        require(kernel.kind == KernelKind::gaussian, "merging needs the Gaussian kernel");
        Merge<T> merge(kernel, terms, {golden, same_sign, n_terms});
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

Loss unpack_loss(const LossArg& arg) {
    const auto& [name, epsilon] = arg;
    for (const auto& [known, kind] : loss_names)
        if (name == known) return Loss{kind, epsilon};
    throw nb::value_error(("unknown loss " + name).c_str());
}

void check_order(const Array<const std::int64_t, 1>& order, std::size_t n) {
    for (std::size_t r = 0; r < order.shape(0); ++r)
        require(order.data()[r] >= 0 && order.data()[r] < static_cast<std::int64_t>(n),
                "an index in the visiting order is out of range");
}

Visits unpack_visits(const RowsArg& rows_arg, const ProblemArg& problem, std::int32_t features) {
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
                alpha.shape(0) == n && (!visits.slots || slots.shape(0) == n),
            "arrays of the problem differ in length");
    check_order(order, n);
    return visits;
}

}  // namespace
}  // namespace budgetsvm
