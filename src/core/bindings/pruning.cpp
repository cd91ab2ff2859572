// SPDX-License-Identifier: BSD-3-Clause
// Panels of terms that cannot count are left out: see module.cpp.
#include "bindings/arguments.hpp"
#include "evaluate/panel_values.hpp"
#include "evaluate/points.hpp"
#include "evaluate/pruned.hpp"
#include "polish/panel_rows.hpp"

namespace budgetsvm {
namespace {

template <class T>
using ExtentsArg =
    std::tuple<Array<const T, 3>, Array<const T, 3>, Array<const T, 1>, Array<const T, 1>>;
template <class T>
using PanelRowsArg =
    std::tuple<Array<const std::int64_t, 1>, Array<const std::int32_t, 1>, Array<const T, 2>>;
using Chosen = Array<const std::int64_t, 1>;

// Extents around `count` panels.
template <class T>
Extents<T> unpack_extents(const ExtentsArg<T>& arg, std::int32_t count) {
    const auto& [low, high, of_zero, weights] = arg;
    require(low.shape(2) == static_cast<std::size_t>(lanes<T>) && low.shape(0) == high.shape(0) &&
                low.shape(1) == high.shape(1) && low.shape(2) == high.shape(2),
            "extents have the wrong shape");
    const std::int32_t features = checked_length(low.shape(1)),
                       room = checked_length(checked_length(low.shape(0)) * std::size_t(lanes<T>));
    require(of_zero.shape(0) == static_cast<std::size_t>(room) &&
                weights.shape(0) == static_cast<std::size_t>(room),
            "extents differ in length");
    require(0 < count && count <= room, "there are fewer extents than panels");
    return {low.data(), high.data(), of_zero.data(), weights.data(), features, count};
}

template <class T>
RadialLoops<T> unpack_radial(const KernelArg& arg, std::int32_t features) {
    const Kernel kernel = unpack_kernel(arg, features);
    RadialLoops<T> radial{};
    if (const auto* gaussian = kernel.as<Gaussian>())
        radial = {gaussian->loops<T>(), narrow<T>(gaussian->gamma)};
    else if (const auto* laplacian = kernel.as<Laplacian>())
        radial = {laplacian->loops<T>(), narrow<T>(laplacian->gamma)};
    require(radial.loops, "the kernel does not fall with a distance");
    return radial;
}

// Calls use(start, points) for all rows, `most` at a time, without the GIL.
template <class T, class Use>
void for_points(const Rows& rows, const KernelArg& kernel_arg, std::int32_t most, Use use) {
    const Kernel kernel = unpack_kernel(kernel_arg, rows.features);
    nb::gil_scoped_release release;
    PointBlock<T> block;
    for (std::int64_t start = 0; start < rows.count; start += most) {
        const auto count =
            static_cast<std::int32_t>(std::min<std::int64_t>(most, rows.count - start));
        block.load(rows, start, count, kernel);
        use(start, block.points());
    }
}

template <class T>
void pruned_decision(const RowsArg& rows_arg, const TermsArg<T>& terms_arg, std::int32_t size,
                     const KernelArg& kernel, const ExtentsArg<T>& extents_arg,
                     Array<double, 1> out) {
    const Terms<T> terms = unpack_panels<T>(terms_arg, size);
    const Extents<T> extents = unpack_extents(extents_arg, terms.view().count());
    require(extents.features == terms.features, "extents and terms differ in their features");
    const RadialLoops<T> radial = unpack_radial<T>(kernel, terms.features);
    const Rows rows = unpack_rows(rows_arg, terms.features);
    require(out.shape(0) == static_cast<std::size_t>(rows.count), "out has the wrong length");
    PrunedSums<T> sums(radial, terms, extents);
    double* values = out.data();
    for_points<T>(rows, kernel, PrunedSums<T>::most_points,
                  [&](std::int64_t start, Points<T> x) { sums.evaluate(x, values + start); });
}

// out: whether a value of the panel may exceed exp(-farthest).
template <class T>
void near_panels(const RowsArg& rows_arg, const KernelArg& kernel, const ExtentsArg<T>& extents_arg,
                 double farthest, Array<bool, 2> out) {
    const std::int32_t count = checked_length(out.shape(1));
    Extents<T> extents = unpack_extents(extents_arg, count);
    const RadialLoops<T> radial = unpack_radial<T>(kernel, extents.features);
    const Rows rows = unpack_rows(rows_arg, extents.features);
    require(out.shape(0) == static_cast<std::size_t>(rows.count), "out has the wrong length");
    const std::int32_t width = extents.padded_count();
    std::vector<T> bounds(static_cast<std::size_t>(points_at_once) * width);
    const std::vector<T> none(static_cast<std::size_t>(width));
    extents.weights = none.data();
    bool* near = out.data();
    for_points<T>(rows, kernel, points_at_once, [&](std::int64_t start, Points<T> x) {
        radial.loops->to_extents(x, extents, radial.gamma, bounds.data());
        for (std::int32_t i = 0; i < x.count; ++i)
            for (std::int32_t b = 0; b < count; ++b)
                near[(start + i) * count + b] =
                    !(bounds[static_cast<std::size_t>(i) * width + b] > farthest);
    });
}

// Starts rise from 0 to the number of entries, and those of each row are in order, below `most`.
inline void check_numbers(const Array<const std::int64_t, 1>& starts,
                          const Array<const std::int32_t, 1>& numbers, std::int32_t most) {
    const std::size_t n = starts.shape(0);
    require(n >= 1 && starts.data()[0] == 0 &&
                starts.data()[n - 1] == static_cast<std::int64_t>(numbers.shape(0)),
            "where rows start does not fit to their panels");
    for (std::size_t i = 0; i + 1 < n; ++i)
        require(starts.data()[i] <= starts.data()[i + 1], "where rows start is out of order");
    bool sound = true;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        std::int32_t before = -1;
        for (std::int64_t b = starts.data()[i]; b < starts.data()[i + 1]; ++b) {
            const std::int32_t number = numbers.data()[b];
            sound = sound && before < number && number < most;
            before = number;
        }
    }
    require(sound, "the number of a panel is out of order or out of range");
}

template <class T>
void panel_values(const RowsArg& rows_arg, const TermsArg<T>& terms_arg, std::int32_t size,
                  const KernelArg& kernel, Array<const std::int64_t, 1> starts,
                  Array<const std::int32_t, 1> numbers, Array<T, 2> out) {
    const Terms<T> terms = unpack_panels<T>(terms_arg, size);
    const RadialLoops<T> radial = unpack_radial<T>(kernel, terms.features);
    const Rows rows = unpack_rows(rows_arg, terms.features);
    require(starts.shape(0) == static_cast<std::size_t>(rows.count) + 1,
            "starts are not of the rows");
    check_numbers(starts, numbers, terms.view().count());
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == static_cast<std::size_t>(lanes<T>),
            "out has the wrong shape");
    PanelValues<T> panels(radial, terms);
    for_points<T>(rows, kernel, PanelValues<T>::most_points, [&](std::int64_t start, Points<T> x) {
        panels.evaluate(x, {starts.data() + start, numbers.data()}, out.data());
    });
}

// The chosen rows, and that vectors of this length have room for their panels. That numbers of
// panels are in range is checked for the chosen rows alone.
template <class T>
PanelRows<T> unpack_panel_rows(const PanelRowsArg<T>& arg, const Chosen& chosen,
                               std::size_t length) {
    const auto& [starts, numbers, values] = arg;
    require(starts.shape(0) >= 1 && values.shape(0) == numbers.shape(0) &&
                values.shape(1) == static_cast<std::size_t>(lanes<T>),
            "broken rows of panels");
    check_indices(chosen, starts.shape(0) - 1, "a chosen row is out of range");
    const auto stored = static_cast<std::int64_t>(numbers.shape(0));
    const auto most = static_cast<std::uint32_t>(checked_length(length) / lanes<T>);
    bool sound = true;
    for (std::size_t i = 0; i < chosen.shape(0); ++i) {
        const std::int64_t from = starts.data()[chosen.data()[i]],
                           to = starts.data()[chosen.data()[i] + 1];
        require(0 <= from && from <= to && to <= stored &&
                    to - from <= std::numeric_limits<std::int32_t>::max(),
                "where rows start is out of range");
        for (std::int64_t b = from; b < to; ++b)
            sound = sound && static_cast<std::uint32_t>(numbers.data()[b]) < most;
    }
    require(sound, "the number of a panel is out of range");
    return {starts.data(), numbers.data(), values.data(), chosen.data(),
            static_cast<std::int64_t>(chosen.shape(0))};
}

template <class T>
void times_panels(const PanelRowsArg<T>& arg, Chosen chosen, Array<const double, 1> coef,
                  Array<double, 1> out) {
    const PanelRows<T> rows = unpack_panel_rows(arg, chosen, coef.shape(0));
    require(chosen.shape(0) == out.shape(0), "shapes differ");
    nb::gil_scoped_release release;
    panel_times(rows, coef.data(), out.data());
}

template <class T>
void transposed_panels(const PanelRowsArg<T>& arg, Chosen chosen, Array<const double, 1> v,
                       Array<double, 1> sums) {
    const PanelRows<T> rows = unpack_panel_rows(arg, chosen, sums.shape(0));
    require(chosen.shape(0) == v.shape(0), "shapes differ");
    nb::gil_scoped_release release;
    add_panel_transposed(rows, v.data(), sums.data());
}

template <class T>
double normal_panels(const PanelRowsArg<T>& arg, Chosen chosen, Array<const double, 1> weights,
                     Array<const double, 1> v, double shift, Array<double, 1> sums) {
    const PanelRows<T> rows = unpack_panel_rows(arg, chosen, sums.shape(0));
    require(chosen.shape(0) == weights.shape(0) && sums.shape(0) == v.shape(0), "shapes differ");
    nb::gil_scoped_release release;
    return add_panel_normal(rows, weights.data(), v.data(), shift, sums.data());
}

template <class T>
void gram_panels(const PanelRowsArg<T>& arg, Chosen chosen, Array<const double, 1> weights,
                 std::int32_t first, std::int32_t last, Array<double, 2> sums) {
    const PanelRows<T> rows = unpack_panel_rows(arg, chosen, sums.shape(0));
    require(chosen.shape(0) == weights.shape(0) && sums.shape(0) == sums.shape(1), "shapes differ");
    nb::gil_scoped_release release;
    add_panel_gram(rows, weights.data(), first, last, sums.data(),
                   static_cast<std::int64_t>(sums.shape(1)));
}

template <class T>
void blocks_of_panels(const PanelRowsArg<T>& arg, Chosen chosen, Array<const double, 1> weights,
                      std::int32_t first, Array<double, 3> sums) {
    const std::int32_t width = checked_length(sums.shape(1)), size = width / lanes<T>,
                       count = checked_length(sums.shape(0));
    require(size >= 1 && size * lanes<T> == width && sums.shape(2) == sums.shape(1) && first >= 0,
            "a block is not one of panels by panels");
    const auto most = std::numeric_limits<std::int32_t>::max() / size;
    require(first <= most && count <= most - first, "there are too many blocks");
    // Panels of other blocks are left out.
    const PanelRows<T> rows = unpack_panel_rows(arg, chosen, std::size_t(most) * size / 2);
    require(chosen.shape(0) == weights.shape(0), "shapes differ");
    nb::gil_scoped_release release;
    add_panel_blocks(rows, weights.data(), size, first, first + count, sums.data());
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def("pruned_decision", &pruned_decision<T>, array("rows"), array("terms"), arg("size"),
          arg("kernel"), array("extents"), array("out"));
    m.def("near_panels", &near_panels<T>, array("rows"), arg("kernel"), array("extents"),
          arg("farthest"), array("out"));
    m.def("panel_values", &panel_values<T>, array("rows"), array("terms"), arg("size"),
          arg("kernel"), array("starts"), array("numbers"), array("out"));
    m.def("panel_times", &times_panels<T>, array("panels"), array("chosen"), array("coef"),
          array("out"));
    m.def("add_panel_transposed", &transposed_panels<T>, array("panels"), array("chosen"),
          array("v"), array("sums"));
    m.def("add_panel_normal", &normal_panels<T>, array("panels"), array("chosen"), array("weights"),
          array("v"), arg("shift"), array("sums"));
    m.def("add_panel_gram", &gram_panels<T>, array("panels"), array("chosen"), array("weights"),
          arg("first"), arg("last"), array("sums"));
    m.def("add_panel_blocks", &blocks_of_panels<T>, array("panels"), array("chosen"),
          array("weights"), arg("first"), array("sums"));
}

}  // namespace

void bind_pruning(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
