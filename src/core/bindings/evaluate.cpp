// SPDX-License-Identifier: BSD-3-Clause
// Models and kernels at many points: see module.cpp.
#include "bindings/arguments.hpp"
#include "evaluate/points.hpp"

namespace budgetsvm {
namespace {

// Calls use(start, points) for all rows, some at a time, without the GIL.
template <class T, class Use>
void for_points(const RowsArg& rows_arg, const Terms<T>& terms, const Kernel& kernel,
                std::size_t out_length, Use use) {
    const Rows rows = unpack_rows(rows_arg, terms.features);
    require(static_cast<std::int64_t>(out_length) == rows.count, "out has the wrong length");
    nb::gil_scoped_release release;
    terms.prepare();
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
    const Kernel kernel = unpack_kernel(kernel_arg, terms);
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
    const Kernel kernel = unpack_kernel(kernel_arg, terms);
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

template <class T>
void bind(nb::module_& m) {
    using nb::arg;
    m.def("decision", &decision<T>, array("rows"), array("terms"), arg("size"), arg("kernel"),
          array("out"));
    m.def("kernel_block", &kernel_block<T>, array("rows"), array("terms"), arg("size"),
          arg("kernel"), array("out"));
}

}  // namespace

void bind_evaluate(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace budgetsvm
