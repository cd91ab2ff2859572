// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the extension's functions: types of NumPy arrays, and how they are unpacked.
// Every size, length and index is checked here, before any work is done: what lies behind trusts
// them, and a wrong one would be read or written out of bounds.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "model/kernel.hpp"
#include "model/loss.hpp"
#include "model/rows.hpp"

namespace budgetsvm {

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
// Values, features, where each point begins and how many entries it has; the number of features.
template <class T>
using SlotsArg = std::tuple<Array<T, 1>, Array<std::int32_t, 1>, Array<const std::int64_t, 1>,
                            Array<std::int32_t, 1>, std::int32_t>;
template <class T>
using TermsArg = std::tuple<std::variant<Array<T, 3>, SlotsArg<T>>, Array<T, 1>, Array<double, 1>>;
using KernelArg = std::tuple<std::string, double, double, int, nb::object>;
using LossArg = std::tuple<std::string, double>;  // name, epsilon

// An argument that is an array, or has some. They are never converted: what is written to the copy
// would be lost.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

// A length as the core counts, with room to round it up.
inline std::int32_t checked_length(std::size_t length) {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() - 4096;
    require(length <= most, "an array is too long");
    return static_cast<std::int32_t>(length);
}

// All indices are in [0, n).
template <class Indices>
void check_indices(const Indices& indices, std::size_t n, const char* message) {
    bool inside = true;
    for (std::size_t r = 0; r < indices.shape(0); ++r)
        inside = inside && static_cast<std::uint64_t>(indices.data()[r]) < n;
    require(inside, message);
}

inline void set_values(Rows& rows, const float* values) { rows.singles = values; }
inline void set_values(Rows& rows, const double* values) { rows.doubles = values; }

template <class S>
void unpack_matrix(Rows& rows, const Array<const S, 2>& dense) {
    require(dense.shape(1) == static_cast<std::size_t>(rows.features),
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
    rows.stored = static_cast<std::int64_t>(values.shape(0));
}

// Whether entries [from, to) have features there are. An index out of range, and no other, has the
// sign bit in itself or in what is left up to the last feature: without a branch, so that it is
// negligible beside evaluating them.
inline bool features_exist(const Rows& rows, std::int64_t from, std::int64_t to) {
    const auto last = static_cast<std::uint32_t>(rows.features - 1);
    std::uint32_t signs = 0;
    for (std::int64_t e = from; e < to; ++e) {
        const auto index = static_cast<std::uint32_t>(rows.indices[e]);
        signs |= index | (last - index);
    }
    return !(signs >> 31);
}

// The sparse rows at hand, not all that there are.
inline void check_sparse(const Rows& rows) {
    bool inside = true;
    for (std::int64_t r = 0; r < rows.count; ++r) {
        const std::int64_t i = rows.position(r), from = rows.starts[i], to = rows.starts[i + 1];
        require(0 <= from && from <= to && to <= rows.stored &&
                    to - from <= std::numeric_limits<std::int32_t>::max(),
                "where sparse rows start is out of order or out of range");
        if (rows.chosen) inside = inside && features_exist(rows, from, to);
    }
    if (!rows.chosen && rows.count > 0)
        inside = features_exist(rows, rows.starts[0], rows.starts[rows.count]);
    require(inside, "the index of a feature is out of range");
}

inline Rows unpack_rows(const RowsArg& arg, std::int32_t features) {
    const auto& [matrix, chosen, centre] = arg;
    Rows rows{};
    rows.features = features;
    std::visit([&](const auto& some) { unpack_matrix(rows, some); }, matrix);
    if (centre) {
        require(!rows.indices && centre->shape(0) == static_cast<std::size_t>(features),
                "the centre does not fit to the rows");
        rows.centre = centre->data();
    }
    if (chosen) {
        check_indices(*chosen, static_cast<std::size_t>(rows.count),
                      "the index of a row is out of range");
        rows.chosen = chosen->data();
        rows.count = static_cast<std::int64_t>(chosen->shape(0));
    }
    if (rows.indices) check_sparse(rows);
    return rows;
}

template <class T>
Terms<T> unpack_points(const Array<T, 3>& panels, std::int32_t) {
    require(panels.shape(2) == static_cast<std::size_t>(lanes<T>), "panels have the wrong width");
    const std::int32_t features = checked_length(panels.shape(1));
    const std::int32_t capacity =
        checked_length(checked_length(panels.shape(0)) * static_cast<std::size_t>(lanes<T>));
    return {panels.data(), nullptr, nullptr, 0, capacity, features};
}

// Slots are where there are entries; the features of these exist, and rise.
template <class T>
void check_entries(const Slots<T>& slots, std::int32_t size, std::int64_t stored,
                   std::int32_t features) {
    bool sound = true;
    for (std::int32_t j = 0; j < slots.capacity; ++j) {
        const std::int64_t from = slots.starts[j], to = slots.starts[j + 1];
        require(0 <= from && from <= to && to <= stored,
                "where sparse terms start is out of order");
        if (j >= size) continue;
        const std::int32_t count = slots.counts[j];
        require(0 <= count && count <= to - from, "a sparse term has more entries than its slot");
        std::int32_t before = -1;
        for (std::int64_t e = from; e < from + count; ++e) {
            sound = sound && before < slots.indices[e] && slots.indices[e] < features;
            before = slots.indices[e];
        }
    }
    require(sound, "the features of a sparse term are out of order or out of range");
}

template <class T>
Terms<T> unpack_points(const SlotsArg<T>& arg, std::int32_t size) {
    constexpr std::size_t most_entries = std::size_t{1} << 30;
    const auto& [values, indices, starts, counts, features] = arg;
    const std::int32_t capacity = checked_length(counts.shape(0));
    require(features >= 0 && capacity > 0 && capacity % lanes<T> == 0 &&
                starts.shape(0) == counts.shape(0) + 1 && values.shape(0) == indices.shape(0) &&
                values.shape(0) <= most_entries,
            "sparse terms have the wrong shape");
    require(0 <= size && size <= capacity, "size exceeds the capacity");
    Slots<T> slots{values.data(), indices.data(), starts.data(), counts.data(), capacity, 0};
    check_entries(slots, size, static_cast<std::int64_t>(values.shape(0)), features);
    std::int64_t room = slots.starts[1] - slots.starts[0];
    for (std::int32_t j = 0; j < capacity; ++j)
        room = std::min(room, slots.starts[j + 1] - slots.starts[j]);
    slots.room = static_cast<std::int32_t>(room);
    return {nullptr,
            nullptr,
            nullptr,
            0,
            capacity,
            features,
            std::make_shared<SparsePoints<T>>(slots, size)};
}

template <class T>
Terms<T> unpack_terms(const TermsArg<T>& arg, std::int32_t size) {
    const auto& [points, norms, coef] = arg;
    Terms<T> terms =
        std::visit([&](const auto& some) { return unpack_points<T>(some, size); }, points);
    require(norms.shape(0) == static_cast<std::size_t>(terms.capacity) &&
                coef.shape(0) == static_cast<std::size_t>(terms.capacity),
            "points, norms and coef differ in length");
    require(0 <= size && size <= terms.capacity, "size exceeds the capacity");
    terms.norms = norms.data();
    terms.coef = coef.data();
    terms.size = size;
    return terms;
}

// Terms in panels, for what goes by these.
template <class T>
Terms<T> unpack_panels(const TermsArg<T>& arg, std::int32_t size) {
    require(std::get<0>(arg).index() == 0, "terms must be in panels, and not sparse");
    return unpack_terms<T>(arg, size);
}

// Every slot has room for any of the sparse terms.
template <class T>
void check_movable(const Terms<T>& terms) {
    for (std::int32_t j = 0; terms.sparse && j < terms.size; ++j)
        require(terms.sparse->row(j).count <= terms.room(), "slots of sparse terms differ in room");
}

// And for all of these rows.
template <class T>
void check_room(const Rows& rows, const Terms<T>& terms) {
    if (!terms.sparse) return;
    check_movable(terms);
    require(rows.indices, "sparse terms cannot be learned from dense rows");
    for (std::int64_t r = 0; r < rows.count; ++r) {
        const std::int64_t from = rows.start(r);
        require(rows.length(r) <= terms.room(), "a row has more entries than a sparse term");
        bool rising = true;
        for (std::int32_t e = 1; e < rows.length(r); ++e)
            rising = rising && rows.indices[from + e - 1] < rows.indices[from + e];
        require(rising, "the features of a row are out of order");
    }
}

// A kernel that is a Python function borrows it: the arguments of the call keep it alive.
inline KernelFunction unpack_function(const nb::object& function, std::int32_t features) {
    require(nb::isinstance<nb::callable>(function), "the kernel is no function");
    const nb::handle callee = function;
    return [callee, features](const double* x, std::int32_t size, double* out) {
        nb::gil_scoped_acquire gil;
        const std::size_t shape[1] = {static_cast<std::size_t>(features)};
        nb::ndarray<nb::numpy, const double> point(x, 1, shape, nb::handle());
        const auto values =
            nb::cast<Array<const double, 1>>(callee(nb::cast(point, nb::rv_policy::copy), size));
        require(values.shape(0) == static_cast<std::size_t>(size),
                "the kernel returned a wrong shape");
        std::copy(values.data(), values.data() + size, out);
    };
}

inline Kernel unpack_kernel(const KernelArg& arg, std::int32_t features) {
    const auto& [name, gamma, coef0, degree, function] = arg;
    KernelParameters parameters{gamma, coef0, degree, nullptr};
    if (name == Callback::name) parameters.function = unpack_function(function, features);
    Kernel kernel;
    if (!kernel.choose(name, parameters)) throw nb::value_error(("unknown kernel " + name).c_str());
    require(gamma >= 0 && std::isfinite(gamma), "gamma must be finite, and not negative");
    require(std::isfinite(coef0) && degree >= 1, "coef0 must be finite, the degree at least 1");
    return kernel;
}

template <class T>
Kernel unpack_kernel(const KernelArg& arg, const Terms<T>& terms) {
    const Kernel kernel = unpack_kernel(arg, terms.features);
    require(!(terms.sparse && kernel.sees_only_terms()), "a kernel function needs dense terms");
    return kernel;
}

inline Loss unpack_loss(const LossArg& arg) {
    const auto& [name, epsilon] = arg;
    require(epsilon >= 0 && std::isfinite(epsilon), "epsilon must not be negative");
    Loss loss;
    if (!loss.choose(name, {epsilon})) throw nb::value_error(("unknown loss " + name).c_str());
    return loss;
}

}  // namespace budgetsvm
