// SPDX-License-Identifier: BSD-3-Clause
// The leaf: the few loops in which nearly all time is spent, as a table of functions. leaf.cpp is
// compiled once per instruction set level; dispatch.cpp picks the widest level the CPU has.
//
// Terms are stored in panels: a panel holds `lanes<T>` terms feature by feature, so that one
// feature of all its terms is 256 contiguous bytes. SIMD lanes then run along the terms, and a
// sparse row reads the features it has and no others.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace budgetsvm {

template <class T>
constexpr std::int32_t lanes = 256 / sizeof(T);

// Rows that `dots` and `add_rows` take at once: what is loaded for one serves all.
constexpr int group_size = 4;

template <class T>
struct Leaf {
    // out[j] = <x, z_j> over whole panels.
    void (*dot)(Row<T> x, const T* panels, std::int32_t features, std::int32_t n_panels, T* out);
    // out[j] = sum over the entries of x of |x_k - z_jk| - |z_jk|: the L1 distance less ||z_j||_1.
    void (*l1)(Row<T> x, const T* panels, std::int32_t features, std::int32_t n_panels, T* out);
    // out[j] = max(0, x_norm + norms[j] + slope * out[j]), in place: a distance from its parts.
    void (*distance)(T* out, const T* norms, T x_norm, T slope, std::int32_t count);
    // out[j] = exp(-gamma * distances[j]); out may be the same array.
    void (*decay)(const T* distances, T gamma, std::int32_t count, T* out);
    // sum of coef[j] * values[j], in double.
    double (*sum)(const double* coef, const T* values, std::int32_t count);
    // sums[j] += scale * values[j], in double.
    void (*add)(double scale, const T* values, double* sums, std::int32_t count);
    // sum of a[k] * b[k], and y += scale * x: over the features of a linear machine (ascent.hpp).
    T (*inner)(const T* a, const T* b, std::int32_t count);
    void (*axpy)(T scale, const T* x, T* y, std::int32_t count);
    // The index of the smallest |coef[j]|, the first of equals.
    std::int32_t (*smallest)(const double* coef, std::int32_t count);
    // The index of the smallest values[j], the first of equals.
    std::int32_t (*lowest)(const T* values, std::int32_t count);
    // Lower bounds on the degradation of merging with partner j: see merge.hpp.
    void (*merge_bounds)(const T* distances, const T* kappa, const double* coef, double coef_a,
                         T gamma, std::int32_t count, T* bound);
    // out[i] = sum over j of coef[j] * rows[i][j] for a group of rows, in double. The rows after
    // the group in `rows`, as many again, are brought into the cache.
    void (*dots)(const T* const* rows, const double* coef, std::int32_t count, double* out);
    // sums[j] += sum over a group of rows of scale[i] * rows[i][j], in double; as above.
    void (*add_rows)(const double* scale, const T* const* rows, std::int32_t count, double* sums);
};

// The leaf in use, and its name: "baseline", "v3" or "v4" (x86-64 levels).
template <class T>
const Leaf<T>& leaf();
const char* level();

}  // namespace budgetsvm
