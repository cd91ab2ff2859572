// SPDX-License-Identifier: BSD-3-Clause
// What steps of two variables look at and change, for all variables at once: polish/pair_steps.hpp.
// Included by leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "leaf/leaf.hpp"
#include "leaf/search.hpp"

namespace budgetsvm {
namespace {

inline void slopes(Variables v, std::int32_t count, double never, double* descents,
                   double* downhill) {
    for (std::int32_t i = 0; i < count; ++i) {
        const double beta = v.beta[i], residual = v.residual[i];
        const double up = residual + (beta < 0 ? v.epsilon : -v.epsilon);
        const double down = residual + (beta > 0 ? -v.epsilon : v.epsilon);
        descents[i] = beta < v.upper[i] ? -up : never;
        downhill[i] = beta > v.lower[i] ? down : never;
    }
}

template <class T>
void inverse_curvatures(const T* values, const T* diagonal, T own, std::int32_t count, T* out) {
    for (std::int32_t i = 0; i < count; ++i) {
        const T curvature = own + diagonal[i] - 2 * values[i];
        out[i] = 1 / (curvature > T(1e-12) ? curvature : T(1e-12));
    }
}

template <class T>
std::int32_t most_promising(double highest, const double* downhill, const T* inverse,
                            std::int32_t count, double* losses) {
    for (std::int32_t i = 0; i < count; ++i) {
        const double slope = highest - downhill[i], ascent = slope > 0 ? slope : 0;
        losses[i] = -(ascent * ascent) * inverse[i];
    }
    return index_of_least<false, double>(losses, count, nullptr);
}

template <class T>
void exchange(double change, const T* of_up, const T* of_down, std::int32_t count,
              double* residual) {
    for (std::int32_t i = 0; i < count; ++i)
        residual[i] -= change * (static_cast<double>(of_up[i]) - static_cast<double>(of_down[i]));
}

}  // namespace
}  // namespace budgetsvm
