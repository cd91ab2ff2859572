// SPDX-License-Identifier: BSD-3-Clause
// The extension module budgetsvm._core: unpacks NumPy arrays, picks the instantiation, releases the
// GIL. All arrays belong to Python; results are written in place. Documented in _core.pyi.
#include "arguments.hpp"
#include "ascent.hpp"
#include "degradation_table.hpp"
#include "joint_merge_point.hpp"
#include "passes.hpp"
#include "points.hpp"

using namespace budgetsvm;

namespace budgetsvm {
void bind_learning(nb::module_& m);  // bind_learning.cpp
}

namespace {

// Calls use(start, points) for all rows, some at a time, without the GIL.
template <class T, class Use>
void for_points(const RowsArg& rows_arg, const Terms<T>& terms, const Kernel& kernel,
                std::size_t out_length, Use use) {
    const Rows rows = unpack_rows(rows_arg, terms.features);
    require(static_cast<std::int64_t>(out_length) == rows.count, "out has the wrong length");
    nb::gil_scoped_release release;
    PointBlock<T> block;
    for (std::int64_t start = 0; start < rows.count; start += points_at_once) {
        const auto count =
            static_cast<std::int32_t>(std::min<std::int64_t>(points_at_once, rows.count - start));
        block.load(rows, start, count, kernel);
        use(start, block.points());
    }
}

template <class T>
void decision(const RowsArg& rows, const TermsArg<T>& terms_arg, std::int32_t size,
              const KernelArg& kernel_arg, Array<double, 1> out) {
    const Terms<T> terms = unpack_terms(terms_arg, size);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    double* values = out.data();
    for_points(rows, terms, kernel, out.shape(0), [&](std::int64_t start, Points<T> points) {
        std::fill(values + start, values + start + points.count, 0.0);
        kernel.evaluate(points, terms, Out<T>{}, values + start);
    });
}

// Kernel values; a column more than there are terms is the constant feature.
template <class T>
void kernel_block(const RowsArg& rows, const TermsArg<T>& terms_arg, std::int32_t size,
                  const KernelArg& kernel_arg, Array<T, 2> out) {
    const Terms<T> terms = unpack_terms(terms_arg, size);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    const std::int32_t width = checked_length(out.shape(1));
    require(width == size || width == size + 1, "out has the wrong width");
    T* values = out.data();
    for_points(rows, terms, kernel, out.shape(0), [&](std::int64_t start, Points<T> points) {
        T* block = values + start * width;
        kernel.values(points, terms, Out<T>{block, width, size});
        if (width > size)
            for (std::int32_t i = 0; i < points.count; ++i) block[i * width + size] = T(1);
    });
}

// The chosen rows of a block.
template <class T>
ChosenRows<T> unpack_chosen(const Array<const T, 2>& block,
                            const Array<const std::int64_t, 1>& chosen) {
    check_indices(chosen, block.shape(0), "a chosen row is out of range");
    return {block.data(), chosen.data(), static_cast<std::int64_t>(chosen.shape(0)),
            checked_length(block.shape(1))};
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
    const LossArg& loss, Array<const T, 2> rows, Array<const T, 1> curvature,
    Array<const double, 1> y, Array<const double, 1> targets, Array<const double, 1> box,
    Array<double, 1> alpha, Array<T, 1> w, Array<std::int64_t, 1> order, double upper,
    double lower) {
    for (const std::size_t length :
         {curvature.shape(0), y.shape(0), targets.shape(0), box.shape(0), alpha.shape(0)})
        require(length == rows.shape(0), "arrays of the problem differ in length");
    require(w.shape(0) == rows.shape(1), "w has the wrong length");
    check_indices(order, rows.shape(0), "an index in the order is out of range");
    Loss exact = unpack_loss(loss);
    exact.shortest = 0;
    const LinearProblem<T> problem{exact,        rows.data(),    curvature.data(),
                                   y.data(),     targets.data(), box.data(),
                                   alpha.data(), w.data(),       checked_length(rows.shape(1))};
    nb::gil_scoped_release release;
    const Pass pass =
        ascend(problem, order.data(), static_cast<std::int64_t>(order.shape(0)), {upper, lower});
    return {pass.kept, pass.upper, pass.lower};
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    // Never convert an array: what is written to the copy would be lost.
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("ascend", &ascend_rows<T>, arg("loss"), array("rows"), array("curvature"), array("y"),
          array("targets"), array("box"), array("alpha"), array("w"), array("order"), arg("upper"),
          arg("lower"));
    m.def("times", &times_block<T>, array("block"), array("chosen"), array("coef"), array("out"));
    m.def("add_transposed_times", &add_transposed_times_block<T>, array("block"), array("chosen"),
          array("v"), array("sums"));
    m.def("add_normal_times", &add_normal_times_block<T>, array("block"), array("chosen"),
          array("weights"), array("v"), array("sums"));
    m.def("decision", &decision<T>, array("rows"), array("terms"), arg("size"), arg("kernel"),
          array("out"));
    m.def("kernel_block", &kernel_block<T>, array("rows"), array("terms"), arg("size"),
          arg("kernel"), array("out"));
}

}  // namespace

NB_MODULE(_core, m) {
    bind_learning(m);
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
        "joint_merge_point",
        [](double rho, double cosine, double L, int iterations, bool golden) {
            const JointPoint point = golden ? golden_joint_point(rho, cosine, L)
                                            : joint_merge_point(rho, cosine, L, iterations);
            return std::make_tuple(point.h, point.degradation);
        },
        nb::arg("rho"), nb::arg("cosine"), nb::arg("L"), nb::arg("iterations") = 40,
        nb::arg("golden") = false);
    m.def(
        "table_degradation",
        [](double rho, double L) { return rho * rho * DegradationTable::instance().cost(rho, L); },
        nb::arg("rho"), nb::arg("L"));
    m.def("level", [] { return std::string(level()); });
    m.attr("PANEL_BYTES") = 256;
}
