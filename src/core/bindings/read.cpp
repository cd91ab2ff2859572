// SPDX-License-Identifier: BSD-3-Clause
// Text files: see module.cpp.
#include "bindings/arguments.hpp"
#include "read/libsvm.hpp"

namespace budgetsvm {
namespace {

using TextArg = Array<const std::uint8_t, 1>;
// Rows, entries, least and largest index, where the first fault is (or -1).
using ReadingResult =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Text unpack_text(const TextArg& arg) {
    const char* begin = reinterpret_cast<const char*>(arg.data());
    return {begin, begin + arg.shape(0)};
}

std::tuple<std::int64_t, std::int64_t> libsvm_size(const TextArg& arg) {
    const Text text = unpack_text(arg);
    nb::gil_scoped_release release;
    const TextSize size = text_size(text);
    return {size.rows, size.entries};
}

ReadingResult read(const TextArg& text_arg, std::int64_t first, std::int64_t features,
                   const Array<double, 1>& labels, const Array<std::int64_t, 1>& starts,
                   const Array<std::int32_t, 1>& indices, const Array<double, 1>& values) {
    require(first == 0 || first == 1, "indices count from 0 or 1");
    require(0 <= features && features <= std::numeric_limits<std::int32_t>::max(),
            "the number of features is out of range");
    require(starts.shape(0) >= 1, "there is no room for where rows start");
    const auto most = static_cast<std::int64_t>(std::min(labels.shape(0), starts.shape(0) - 1));
    const auto room = static_cast<std::int64_t>(std::min(indices.shape(0), values.shape(0)));
    const Text text = unpack_text(text_arg);
    double* out = labels.data();
    const SparseRows rows{starts.data(), indices.data(), values.data(), room};
    nb::gil_scoped_release release;
    const Reading done = read_libsvm(text, first, features, out, most, rows);
    return {done.rows, done.entries, done.least, done.largest, done.fault};
}

}  // namespace

void bind_read(nb::module_& m) {
    using nb::arg;
    m.def("libsvm_size", &libsvm_size, array("text"));
    m.def("read_libsvm", &read, array("text"), arg("first"), arg("features"), array("labels"),
          array("starts"), array("indices"), array("values"));
}

}  // namespace budgetsvm
