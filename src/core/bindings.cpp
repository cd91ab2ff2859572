// SPDX-License-Identifier: BSD-3-Clause
// The extension module budgetsvm._core: unpacks NumPy arrays, picks the instantiation, releases the
// GIL. All arrays belong to Python; results are written in place. Documented in _core.pyi.
#include "arguments.hpp"
#include "ascent.hpp"
#include "bsgd.hpp"
#include "passes.hpp"

namespace nb = nanobind;
using namespace budgetsvm;

namespace {

// Common to both solvers: `run` gets the visits and the model.
template <class T, class Run>
Result solve(const RowsArg& rows, const ProblemArg& problem, const TermsArg<T>& terms_arg,
             std::int32_t size, std::int32_t budget, const KernelArg& kernel_arg,
             const MaintenanceArg& maintenance_arg, const BatchArg& batch_arg, Run run) {
    Terms<T> terms = unpack_terms(terms_arg, size);
    const Visits visits = unpack_visits(rows, problem, terms.features);
    const Kernel kernel = unpack_kernel(kernel_arg, terms.features);
    const bool unlimited = budget <= 0;
    require(
        unlimited ? visits.slots && size + visits.count <= terms.capacity : budget < terms.capacity,
        "no room for the terms");
    auto [batch_size, n_threads] = batch_arg;
    require(batch_size >= 1 && n_threads >= 1, "batch size and threads must be positive");
    // A Python function sees the terms only, and not the other points of a batch.
    if (kernel.kind == KernelKind::callable) batch_size = n_threads = 1;
    Batch<T> batch(kernel, terms, batch_size, !unlimited, n_threads);
    const Tally tally = with_maintenance(maintenance_arg, kernel, terms, [&](auto& maintenance) {
        nb::gil_scoped_release release;
        Team team(std::min(n_threads, batch.most_tiles()),
                  [&](std::int32_t i) { batch.evaluate(i, visits.rows, terms); });
        Expansion<T, std::decay_t<decltype(maintenance)>> model{
            terms, maintenance, batch, team, unlimited ? terms.capacity : budget, batch_size};
        return run(visits, model);
    });
    return {terms.size,   tally.steps,       tally.violations, tally.mistakes,
            tally.merges, tally.degradation, tally.loss};
}

Wanted unpack_wanted(const WantedArg& arg, std::size_t n) {
    const auto& [loss, coupled, labels, targets, box, alpha] = arg;
    const bool classes = labels.shape(0) > 0;
    require(classes ? labels.shape(0) == n && targets.shape(0) == 1
                    : targets.shape(0) == n && targets.shape(1) == alpha.shape(1),
            "labels or targets have the wrong shape");
    require(box.shape(0) == n && alpha.shape(0) == n, "arrays of the problem differ in length");
    require(classes || !coupled, "only the outputs of classes can be coupled");
    for (std::size_t i = 0; i < labels.shape(0); ++i)
        require(
            labels.data()[i] >= 0 && labels.data()[i] < static_cast<std::int32_t>(alpha.shape(1)),
            "a label is out of range");
    return {classes ? labels.data() : nullptr,         targets.data(),    box.data(), alpha.data(),
            static_cast<std::int32_t>(alpha.shape(1)), unpack_loss(loss), coupled};
}

Reduction reduction_of(const MaintenanceArg& arg, const Kernel& kernel) {
    const std::string& name = std::get<0>(arg);
    require(name == "merge" || name == "project" || name == "remove", "unknown maintenance");
    require(name != "merge" || kernel.kind == KernelKind::gaussian,
            "merging needs the Gaussian kernel");
    return name == "merge"     ? Reduction::merge
           : name == "project" ? Reduction::project
                               : Reduction::remove;
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
    const std::size_t n = std::get<4>(wanted_arg).shape(0);
    const Wanted wanted = unpack_wanted(wanted_arg, n);
    check_order(order, n);
    const auto outputs = static_cast<std::size_t>(wanted.outputs);
    require(static_cast<std::int64_t>(order.shape(0)) == rows.count &&
                diagonal.shape(0) == order.shape(0) && coef.shape(1) == outputs &&
                static_cast<std::int32_t>(coef.shape(0)) >= terms.capacity &&
                (bias.shape(0) == 0 || bias.shape(0) == outputs),
            "arrays of the problem differ in length");
    require(budget >= 1 && budget < terms.capacity, "no room for the terms");
    JointModel<T> model(kernel, terms, coef.data(), bias.shape(0) ? bias.data() : nullptr,
                        wanted.outputs, budget, reduction_of(maintenance, kernel));
    nb::gil_scoped_release release;
    const Tally tally =
        n_total > 0 ? joint_bsgd(rows, order.data(), wanted, kernel, model, t, n_total)
                    : joint_bsca(rows, order.data(), diagonal.data(), wanted, kernel, model);
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
    Batch<T> empty(kernel, terms, 1, false);
    const double degradation =
        with_maintenance(maintenance_arg, kernel, terms,
                         [&](auto& maintenance) { return maintenance.reduce(terms, empty); });
    return {terms.size, degradation};
}

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
    const auto width = static_cast<std::int32_t>(out.shape(1));
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
    const LossArg& loss, Array<const T, 2> rows, Array<const T, 1> curvature,
    Array<const double, 1> y, Array<const double, 1> targets, Array<const double, 1> box,
    Array<double, 1> alpha, Array<T, 1> w, Array<std::int64_t, 1> order, double upper,
    double lower) {
    const auto n = static_cast<std::int64_t>(rows.shape(0));
    for (const std::size_t length :
         {curvature.shape(0), y.shape(0), targets.shape(0), box.shape(0), alpha.shape(0)})
        require(static_cast<std::int64_t>(length) == n, "arrays of the problem differ in length");
    require(w.shape(0) == rows.shape(1), "w has the wrong length");
    const auto count = static_cast<std::int64_t>(order.shape(0));
    for (std::int64_t r = 0; r < count; ++r)
        require(order.data()[r] >= 0 && order.data()[r] < n,
                "an index in the order is out of range");
    Loss exact = unpack_loss(loss);
    exact.shortest = 0;
    const LinearProblem<T> problem{
        exact,        rows.data(),    curvature.data(),
        y.data(),     targets.data(), box.data(),
        alpha.data(), w.data(),       static_cast<std::int32_t>(rows.shape(1))};
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
            return solve<T>(
                rows, problem, terms, size, budget, kernel, maintenance, batch,
                [=](const auto& visits, auto& model) { return bsgd(visits, model, t, n_total); });
        },
        array("rows"), array("problem"), array("terms"), arg("size"), arg("budget"), arg("kernel"),
        arg("maintenance"), arg("batch"), arg("t"), arg("n_total"));
    m.def("joint", &joint<T>, array("rows"), array("order"), array("diagonal"), array("wanted"),
          array("terms"), arg("size"), array("coef"), array("bias"), arg("budget"), arg("kernel"),
          arg("maintenance"), arg("t"), arg("n_total"));
    m.def("ascend", &ascend_rows<T>, arg("loss"), array("rows"), array("curvature"), array("y"),
          array("targets"), array("box"), array("alpha"), array("w"), array("order"), arg("upper"),
          arg("lower"));
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
        "joint_merge_point",
        [](double rho, double cosine, double L, int iterations) {
            const JointPoint point = joint_merge_point(rho, cosine, L, iterations);
            return std::make_tuple(point.h, point.degradation);
        },
        nb::arg("rho"), nb::arg("cosine"), nb::arg("L"), nb::arg("iterations") = 40);
    m.def(
        "table_degradation",
        [](double rho, double L) { return rho * rho * DegradationTable::instance().cost(rho, L); },
        nb::arg("rho"), nb::arg("L"));
    m.def("level", [] { return std::string(level()); });
    m.attr("PANEL_BYTES") = 256;
}
