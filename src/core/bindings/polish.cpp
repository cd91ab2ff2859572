// SPDX-License-Identifier: BSD-3-Clause
// Phase 2, passes over a matrix that is held in memory: see module.cpp.
#include "bindings/arguments.hpp"
#include "evaluate/passes.hpp"
#include "polish/ascent.hpp"
#include "polish/kernel_ascent.hpp"

namespace budgetsvm {
namespace {

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
LinearProblem<T> unpack_linear(const Array<const T, 2>& rows, const Array<const T, 1>& curvature,
                               const Array<const double, 1>& y,
                               const Array<const double, 1>& targets,
                               const Array<const double, 1>& box, const Array<double, 1>& alpha,
                               const Array<T, 1>& w, const Array<std::int64_t, 1>& order) {
    for (const std::size_t length :
         {curvature.shape(0), y.shape(0), targets.shape(0), box.shape(0), alpha.shape(0)})
        require(length == rows.shape(0), "arrays of the problem differ in length");
    require(w.shape(0) == rows.shape(1), "w has the wrong length");
    check_indices(order, rows.shape(0), "an index in the order is out of range");
    return {rows.data(), curvature.data(), y.data(), targets.data(),
            box.data(),  alpha.data(),     w.data(), checked_length(rows.shape(1))};
}

template <class T>
std::tuple<std::int64_t, double, double> ascend_rows(
    const LossArg& loss, Array<const T, 2> rows, Array<const T, 1> curvature,
    Array<const double, 1> y, Array<const double, 1> targets, Array<const double, 1> box,
    Array<double, 1> alpha, Array<T, 1> w, Array<std::int64_t, 1> order, double upper,
    double lower) {
    const auto problem = unpack_linear<T>(rows, curvature, y, targets, box, alpha, w, order);
    const Loss chosen = unpack_loss(loss);
    nb::gil_scoped_release release;
    const auto count = static_cast<std::int64_t>(order.shape(0));
    const Pass pass = chosen.visit([&](const auto& one) {
        return ascend(one, problem, order.data(), count, Shrinking{upper, lower});
    });
    return {pass.kept, pass.upper, pass.lower};
}

using PassesArg = std::tuple<std::int64_t, double, double>;

template <class T>
std::tuple<std::int64_t, bool, PassesArg> ascend_rows_until(
    const LossArg& loss, Array<const T, 2> rows, Array<const T, 1> curvature,
    Array<const double, 1> y, Array<const double, 1> targets, Array<const double, 1> box,
    Array<double, 1> alpha, Array<T, 1> w, Array<std::int64_t, 1> order, const PassesArg& state,
    double precision, std::int64_t most_passes, std::uint64_t seed) {
    const auto problem = unpack_linear<T>(rows, curvature, y, targets, box, alpha, w, order);
    const Loss chosen = unpack_loss(loss);
    const auto count = static_cast<std::int64_t>(order.shape(0));
    const auto [kept, upper, lower] = state;
    require(0 <= kept && kept <= count, "more rows are active than there are");
    require(precision >= 0, "the precision must not be negative");
    const Passes begin{0, kept, {upper, lower}};
    nb::gil_scoped_release release;
    const Passes passes = chosen.visit([&](const auto& one) {
        return ascend_until(one, problem, order.data(), count, begin, precision, most_passes,
                            Shuffler(seed));
    });
    return {
        passes.done, passes.settled, {passes.kept, passes.shrinking.upper, passes.shrinking.lower}};
}

template <class T>
std::tuple<std::int64_t, double> climb_set(const LossArg& loss, Array<const T, 2> gram,
                                           Array<const double, 1> y, Array<const double, 1> targets,
                                           Array<const double, 1> box, Array<double, 1> alpha,
                                           Array<double, 1> f, double precision,
                                           std::int64_t most_steps) {
    for (const std::size_t length :
         {gram.shape(1), y.shape(0), targets.shape(0), box.shape(0), alpha.shape(0), f.shape(0)})
        require(length == gram.shape(0), "arrays of the working set differ in length");
    require(precision >= 0, "the precision must not be negative");
    const Loss chosen = unpack_loss(loss);
    const WorkingSet<T> set{gram.data(),
                            y.data(),
                            targets.data(),
                            box.data(),
                            alpha.data(),
                            f.data(),
                            checked_length(gram.shape(0))};
    nb::gil_scoped_release release;
    const Climb found =
        chosen.visit([&](const auto& one) { return climb(one, set, precision, most_steps); });
    return {found.steps, found.violation};
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def("ascend", &ascend_rows<T>, arg("loss"), array("rows"), array("curvature"), array("y"),
          array("targets"), array("box"), array("alpha"), array("w"), array("order"), arg("upper"),
          arg("lower"));
    m.def("ascend_until", &ascend_rows_until<T>, arg("loss"), array("rows"), array("curvature"),
          array("y"), array("targets"), array("box"), array("alpha"), array("w"), array("order"),
          arg("state"), arg("precision"), arg("most_passes"), arg("seed"));
    m.def("climb", &climb_set<T>, arg("loss"), array("gram"), array("y"), array("targets"),
          array("box"), array("alpha"), array("f"), arg("precision"), arg("most_steps"));
    m.def("times", &times_block<T>, array("block"), array("chosen"), array("coef"), array("out"));
    m.def("add_transposed_times", &add_transposed_times_block<T>, array("block"), array("chosen"),
          array("v"), array("sums"));
    m.def("add_normal_times", &add_normal_times_block<T>, array("block"), array("chosen"),
          array("weights"), array("v"), array("sums"));
}

}  // namespace

void bind_polish(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
