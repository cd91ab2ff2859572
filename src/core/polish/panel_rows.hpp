// SPDX-License-Identifier: BSD-3-Clause
// Passes over rows of kernel values of which only some panels are stored, the others being 0: see
// passes.hpp for what they compute. Vectors have room for all panels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "leaf/leaf.hpp"

namespace budgetsvm {

// Row i has the panels numbers[starts[i]], ..., numbers[starts[i + 1] - 1], in rising order.
template <class T>
struct PanelRows {
    const std::int64_t* starts;
    const std::int32_t* numbers;
    const T* values;             // (stored panels, lanes)
    const std::int64_t* chosen;  // which rows
    std::int64_t count;

    // One of the chosen rows.
    struct Panels {
        const T* values;
        const std::int32_t* numbers;
        std::int32_t count;
    };
    Panels operator[](std::int64_t i) const {
        const std::int64_t from = starts[chosen[i]], to = starts[chosen[i] + 1];
        return {values + from * lanes<T>, numbers + from, static_cast<std::int32_t>(to - from)};
    }
};

// out_i = <k_i, v>
template <class T>
void panel_times(const PanelRows<T>& rows, const double* v, double* out) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const auto row = rows[i];
        out[i] = leaf<T>().panels_dot(row.values, row.numbers, row.count, v);
    }
}

// sums += sum_i scale_i k_i
template <class T>
void add_panel_transposed(const PanelRows<T>& rows, const double* scale, double* sums) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const auto row = rows[i];
        leaf<T>().add_panels(scale[i], row.values, row.numbers, row.count, sums);
    }
}

// sums += sum_i f_i k_i, where f_i = scale_i (<k_i, v> + shift); returns sum_i f_i.
template <class T>
double add_panel_normal(const PanelRows<T>& rows, const double* scale, const double* v,
                        double shift, double* sums) {
    double total = 0;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const auto row = rows[i];
        const double dot = leaf<T>().panels_dot(row.values, row.numbers, row.count, v);
        const double factor = scale[i] * (dot + shift);
        leaf<T>().add_panels(factor, row.values, row.numbers, row.count, sums);
        total += factor;
    }
    return total;
}

// out += sum_i scale_i k_i k_i^T: of the blocks (p, q), p <= q, of a panel by a panel, those with
// first <= p < last. out is a square matrix of this width.
template <class T>
void add_panel_gram(const PanelRows<T>& rows, const double* scale, std::int32_t first,
                    std::int32_t last, double* out, std::int64_t width) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const auto row = rows[i];
        for (std::int32_t a = 0; a < row.count && row.numbers[a] < last; ++a) {
            if (row.numbers[a] < first) continue;
            double* line = out + row.numbers[a] * lanes<T> * width;
            for (std::int32_t b = a; b < row.count; ++b)
                leaf<T>().add_outer(scale[i], row.values + a * lanes<T>, row.values + b * lanes<T>,
                                    line + row.numbers[b] * lanes<T>, width);
        }
    }
}

// The same for blocks along the diagonal, each of `size` panels: out has such a matrix for each of
// the groups of panels from `first` to before `last`.
template <class T>
void add_panel_blocks(const PanelRows<T>& rows, const double* scale, std::int32_t size,
                      std::int32_t first, std::int32_t last, double* out) {
    const std::int64_t width = std::int64_t(size) * lanes<T>;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const auto row = rows[i];
        const auto* begin = std::lower_bound(row.numbers, row.numbers + row.count, first * size);
        for (auto a = static_cast<std::int32_t>(begin - row.numbers); a < row.count; ++a) {
            const std::int32_t group = row.numbers[a] / size;
            if (group < first || group >= last) continue;
            double* line =
                out + ((group - first) * width + (row.numbers[a] - group * size) * lanes<T>)*width;
            for (std::int32_t b = a; b < row.count && row.numbers[b] / size == group; ++b)
                leaf<T>().add_outer(scale[i], row.values + std::int64_t(a) * lanes<T>,
                                    row.values + std::int64_t(b) * lanes<T>,
                                    line + (row.numbers[b] - group * size) * lanes<T>, width);
        }
    }
}

}  // namespace budgetsvm
