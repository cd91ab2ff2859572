// SPDX-License-Identifier: BSD-3-Clause
// The full problem, with all kernel values at hand: see module.cpp.
#include "bindings/arguments.hpp"
#include "polish/block_dual.hpp"

namespace budgetsvm {
namespace {

template <class T>
using BlocksArg =
    std::tuple<Array<const T, 2>, Array<const T, 2>, Array<const T, 2>, Array<const T, 2>>;

template <class T>
KernelBlocks<T> unpack_blocks(const BlocksArg<T>& blocks) {
    const auto& [first, cross, back, second] = blocks;
    const std::size_t n_first = first.shape(0), n_second = second.shape(0);
    require(first.shape(1) == n_first && second.shape(1) == n_second, "shapes differ");
    require(cross.shape(0) == n_first && cross.shape(1) == n_second, "shapes differ");
    require(back.shape(0) == n_second && back.shape(1) == n_first, "shapes differ");
    checked_length(n_first + n_second);
    return {first.data(),
            cross.data(),
            back.data(),
            second.data(),
            checked_length(n_first),
            checked_length(n_second)};
}

template <class T>
std::tuple<double, double, double, double, std::int64_t> climb_blocks(
    const BlocksArg<T>& blocks, Array<const double, 1> targets, Array<const double, 1> lower,
    Array<const double, 1> upper, double epsilon, Array<double, 1> beta, Array<double, 1> residual,
    const std::tuple<double, double>& scale, double tolerance, std::int64_t most_rounds) {
    const KernelBlocks<T> kernel = unpack_blocks<T>(blocks);
    for (const std::size_t length :
         {targets.shape(0), lower.shape(0), upper.shape(0), beta.shape(0), residual.shape(0)})
        require(length == static_cast<std::size_t>(kernel.size()),
                "arrays of the rows differ in length");
    require(tolerance >= 0 && epsilon >= 0, "tolerance and epsilon must not be negative");
    nb::gil_scoped_release release;
    const Variables variables{beta.data(), residual.data(), lower.data(), upper.data(), epsilon};
    const auto [trivial, hopeless] = scale;
    BlockDual<T> problem(kernel, targets.data(), variables, GapScale{trivial, hopeless});
    const BlockSolution found = problem.solve(tolerance, most_rounds);
    return {found.primal, found.dual, found.scale, found.bias, found.rounds};
}

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def("climb_blocks", &climb_blocks<T>, array("blocks"), array("targets"), array("lower"),
          array("upper"), arg("epsilon"), array("beta"), array("residual"), arg("scale"),
          arg("tolerance"), arg("most_rounds"));
}

}  // namespace

void bind_exact(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
