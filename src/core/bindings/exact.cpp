// SPDX-License-Identifier: BSD-3-Clause
// Problems of two classes, and the full problem with all kernel values at hand: see module.cpp.
#include "bindings/arguments.hpp"
#include "polish/block_dual.hpp"
#include "polish/pair_dual.hpp"
#include "polish/span_pairs.hpp"

namespace budgetsvm {
namespace {

template <class T>
using BlocksArg =
    std::tuple<Array<const T, 2>, Array<const T, 2>, Array<const T, 2>, Array<const T, 2>>;

// Where rows of the first group are held, if these are not all; and the ages of a working set.
using PlacesArg = std::optional<Array<const std::int32_t, 1>>;
using SetArg = std::tuple<PlacesArg, Array<std::int64_t, 1>>;

template <class T>
KernelBlocks<T> unpack_blocks(const BlocksArg<T>& blocks, const PlacesArg& places) {
    const auto& [first, cross, back, second] = blocks;
    const std::size_t n_first = first.shape(1), n_second = second.shape(0);
    require(second.shape(1) == n_second, "shapes differ");
    require(places ? places->shape(0) == n_first : first.shape(0) == n_first, "shapes differ");
    for (std::size_t i = 0; places && i < n_first; ++i)
        require(places->data()[i] < static_cast<std::int64_t>(first.shape(0)),
                "there is no such place");
    require(cross.shape(0) == n_first && cross.shape(1) == n_second, "shapes differ");
    require(back.shape(0) == n_second && back.shape(1) == n_first, "shapes differ");
    checked_length(n_first + n_second);
    return {first.data(),
            cross.data(),
            back.data(),
            second.data(),
            checked_length(n_first),
            checked_length(n_second),
            places ? places->data() : nullptr};
}

using Vector = Array<const double, 1>;
using BoundsArg = std::tuple<Vector, Vector, Vector, double>;
using StateArg = std::tuple<Array<double, 1>, Array<double, 1>>;

template <class T>
std::tuple<double, double, double, double, std::int64_t, bool> climb_blocks(
    const BlocksArg<T>& blocks, const BoundsArg& bounds, const StateArg& state,
    const std::tuple<double, double>& scale, double goal, std::int64_t most_rounds,
    const SetArg& working_set) {
    const auto& [targets, lower, upper, epsilon] = bounds;
    const auto& [beta, residual] = state;
    const auto& [places, ages] = working_set;
    const KernelBlocks<T> kernel = unpack_blocks<T>(blocks, places);
    for (const std::size_t length : {targets.shape(0), lower.shape(0), upper.shape(0),
                                     beta.shape(0), residual.shape(0), ages.shape(0)})
        require(length == static_cast<std::size_t>(kernel.size()),
                "arrays of the rows differ in length");
    require(goal >= 0 && epsilon >= 0, "goal and epsilon must not be negative");
    nb::gil_scoped_release release;
    const Variables variables{beta.data(), residual.data(), lower.data(), upper.data(), epsilon};
    const auto [trivial, hopeless] = scale;
    BlockDual<T, KernelBlocks<T>> problem(kernel, targets.data(), variables,
                                          GapScale{trivial, hopeless}, ages.data());
    const BlockSolution found = problem.solve(goal, most_rounds);
    return {found.primal, found.dual, found.scale, found.bias, found.rounds, found.waits};
}

using PairsArg = Array<const std::int64_t, 2>;

// The rows of a class, which follow each other.
std::vector<ClassRange> unpack_pairs(const Array<const std::int64_t, 1>& starts,
                                     const PairsArg& pairs, std::size_t n) {
    require(starts.shape(0) > 0 && pairs.shape(1) == 2, "shapes differ");
    const std::size_t n_classes = starts.shape(0) - 1;
    const std::int64_t* at = starts.data();
    for (std::size_t c = 0; c < n_classes; ++c) require(at[c] < at[c + 1], "a class has no rows");
    require(at[0] == 0 && static_cast<std::uint64_t>(at[n_classes]) == n,
            "classes and rows differ");
    std::vector<ClassRange> ranges;
    for (std::size_t p = 0; p < 2 * pairs.shape(0); ++p) {
        const std::int64_t c = pairs.data()[p];
        require(static_cast<std::uint64_t>(c) < n_classes, "there is no such class");
        ranges.push_back({at[c], at[c + 1]});
        require(p % 2 == 0 || ranges[p - 1].begin != ranges[p].begin, "a pair is of two classes");
    }
    return ranges;
}

using PairsFoundArg = std::tuple<Array<double, 1>, Array<double, 1>, Array<double, 2>>;

template <class T>
void climb_pairs(const Array<const T, 2>& kernel, const Array<const double, 1>& box,
                 const Array<const std::int64_t, 1>& starts, PairsArg pairs, double goal,
                 std::int64_t most_rounds, const PairsFoundArg& found) {
    const auto& [beta, residual, certificates] = found;
    const std::size_t n = kernel.shape(0), count = pairs.shape(0);
    require(kernel.shape(1) == n && box.shape(0) == n, "arrays of the rows differ in length");
    require(certificates.shape(0) == count && certificates.shape(1) == 5, "shapes differ");
    require(goal >= 0, "the goal must not be negative");
    const std::vector<ClassRange> ranges = unpack_pairs(starts, pairs, n);
    std::size_t members = 0;
    for (const ClassRange& one : ranges) members += static_cast<std::size_t>(one.size());
    for (const auto* out : {&beta, &residual})
        require(out->shape(0) == members, "arrays of the pairs have the wrong length");
    nb::gil_scoped_release release;
    double *own_beta = beta.data(), *own_residual = residual.data(), *out = certificates.data();
    for (std::size_t p = 0; p < count; ++p, out += 5) {
        const ClassRange first = ranges[2 * p], second = ranges[2 * p + 1];
        const PairBlocks<T> blocks{kernel.data(), static_cast<std::int64_t>(n),
                                   first,         second,
                                   first.size(),  second.size()};
        const BlockSolution one =
            solve_pair(blocks, box.data(), own_beta, own_residual, goal, most_rounds);
        out[0] = one.primal, out[1] = one.dual, out[2] = one.scale, out[3] = one.bias;
        out[4] = static_cast<double>(one.rounds);
        own_beta += blocks.size(), own_residual += blocks.size();
    }
}

template <class T>
using ClassRowsArg = std::tuple<Array<const T, 2>, Array<const T, 1>, Array<const double, 1>,
                                Array<const std::int64_t, 1>>;
using FoundArg = std::tuple<Array<double, 2>, Array<double, 2>, Array<double, 2>, Array<double, 1>>;

template <class T>
std::size_t ascend_pairs(const ClassRowsArg<T>& given, PairsArg pairs, double goal,
                         std::int64_t most_rounds, double most_values, std::uint64_t seed,
                         const FoundArg& results) {
    const auto& [features, curvature, box, starts] = given;
    const auto& [w, point, certificates, alpha] = results;
    const std::size_t n = features.shape(0), count = pairs.shape(0), width = features.shape(1);
    require(curvature.shape(0) == n && box.shape(0) == n, "arrays of the rows differ in length");
    for (const auto* out : {&w, &point})
        require(out->shape(0) == count && out->shape(1) == width, "shapes differ");
    require(certificates.shape(0) == count && certificates.shape(1) == 4, "shapes differ");
    require(width > 0 && goal >= 0, "the goal must not be negative");
    const std::vector<ClassRange> ranges = unpack_pairs(starts, pairs, n);
    std::size_t members = 0;
    for (const ClassRange& one : ranges) members += static_cast<std::size_t>(one.end - one.begin);
    require(alpha.shape(0) == members, "alpha has the wrong length");
    const ClassRows<T> rows{features.data(), curvature.data(), box.data(),
                            static_cast<std::int64_t>(n), checked_length(width)};
    nb::gil_scoped_release release;
    std::vector<double> variables(n, 0.0), y(n, 0.0);
    const std::vector<double> targets(n, 1.0);
    double *own_alpha = alpha.data(), values = 0;
    std::size_t p = 0;
    for (; p < count && values <= most_values; ++p) {
        SpanPair<T> pair(rows, ranges[2 * p], ranges[2 * p + 1]);
        SpanSolution found{w.data() + p * width, point.data() + p * width, own_alpha};
        const auto own_seed = static_cast<std::uint64_t>(ranges[2 * p].begin) * n +
                              static_cast<std::uint64_t>(ranges[2 * p + 1].begin);
        pair.solve(variables.data(), y.data(), targets.data(), goal, most_rounds,
                   seed + 1000 * own_seed, found);
        for (const std::int64_t i : pair.members()) variables[i] = 0;
        own_alpha += pair.members().size();
        values +=
            static_cast<double>(found.passes) * static_cast<double>(pair.members().size() * width);
        double* out = certificates.data() + 4 * p;
        out[0] = found.primal, out[1] = found.dual, out[2] = found.scale;
        out[3] = static_cast<double>(found.passes);
    }
    return p;
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def("climb_blocks", &climb_blocks<T>, array("blocks"), array("bounds"), array("state"),
          arg("scale"), arg("goal"), arg("most_rounds"), array("working_set"));
    m.def("climb_pairs", &climb_pairs<T>, array("kernel"), array("box"), array("starts"),
          array("pairs"), arg("goal"), arg("most_rounds"), array("found"));
    m.def("ascend_pairs", &ascend_pairs<T>, array("rows"), array("pairs"), arg("goal"),
          arg("most_rounds"), arg("most_values"), arg("seed"), array("found"));
}

}  // namespace

void bind_exact(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
