// SPDX-License-Identifier: BSD-3-Clause
// The leaf: the few loops in which nearly all time is spent, as a table of functions. leaf.cpp is
// compiled once per instruction set level; dispatch.cpp picks the widest level the CPU has.
//
// Terms are stored in panels: a panel holds `lanes<T>` terms feature by feature, so that one
// feature of all its terms is 256 contiguous bytes. SIMD lanes then run along the terms, and a
// sparse row reads the features it has and no others. Some points are evaluated against a panel
// before the next panel has its turn: it stays in the first-level cache meanwhile.
//
// Or they are sparse, and found by feature: see leaf/feature_index.hpp.
#pragma once

#include <cstdint>

#include "leaf/distances.hpp"
#include "leaf/feature_index.hpp"

namespace budgetsvm {

constexpr std::int32_t panel_bytes = 256;  // of one feature
template <class T>
constexpr std::int32_t lanes = panel_bytes / sizeof(T);

// Points that pass by a panel before the next has its turn.
constexpr std::int32_t points_at_once = 32;

// Rows that `dots` and `add_rows` take at once: what is loaded for one serves all.
constexpr int group_size = 4;

constexpr BUDGETSVM_INLINE std::int32_t padded(std::int32_t n, std::int32_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// A row of data is a list of (feature, value) pairs; a dense row is one whose features are 0, 1, 2,
// ... So dense and sparse data share every algorithm.
template <class T>
struct Row {
    const T* values;
    const std::int32_t* indices;  // null: dense, values[k] belongs to feature k
    std::int32_t count;

    BUDGETSVM_INLINE std::int32_t feature(std::int32_t entry) const {
        return indices ? indices[entry] : entry;
    }

    // out[feature] = value, for the features of this row alone.
    template <class U>
    BUDGETSVM_INLINE void spread(U* out) const {
        for (std::int32_t e = 0; e < count; ++e) out[feature(e)] = values[e];
    }
};

// Points to evaluate, with what the kernel needs of each alone (Kernel::norm).
template <class T>
struct Points {
    const Row<T>* rows;
    const T* norms;
    std::int32_t count;
};

template <class T>
struct Panels {
    const T* values;  // (panels, features, lanes)
    const T* norms;   // of whole panels
    std::int32_t features;
    std::int32_t size;  // terms; the last panel may be filled in part

    BUDGETSVM_INLINE std::int32_t padded_size() const { return padded(size, lanes<T>); }
    BUDGETSVM_INLINE std::int32_t count() const { return padded_size() / lanes<T>; }
    BUDGETSVM_INLINE const T* panel(std::int32_t p) const {
        return values + static_cast<std::int64_t>(p) * features * lanes<T>;
    }
};

// Extents, each around the terms of a panel; stored like terms, in panels of extents.
template <class T>
struct Extents {
    const T *low, *high;  // (panels of extents, features, lanes)
    const T* of_zero;     // of whole panels: the distance of the origin ...
    const T* weights;     // ... and the logarithm of the terms' weight
    std::int32_t features;
    std::int32_t count;

    BUDGETSVM_INLINE std::int32_t padded_count() const { return padded(count, lanes<T>); }
};

// Where a value for every pair of a point and a term goes: row i begins at values + i * stride and
// has room for `width` of them; 0: for none, they are not wanted.
template <class T>
struct Out {
    T* values;
    std::int64_t stride;
    std::int32_t width;
};

// Kernels exp(-gamma * distance).
template <class T>
struct Radial {
    void (*distances)(Points<T> x, Panels<T> z, Out<T> distances);
    void (*kernel)(Points<T> x, Panels<T> z, T gamma, Out<T> kernel);
    // values[i] += sum_j coef[j] k(x_i, z_j), added up in double; the distances by the way.
    void (*sums)(Points<T> x, Panels<T> z, T gamma, Out<T> distances, const double* coef,
                 double* values);
    // out[i * extents.padded_count() + b] = e - weights[b] over whole panels of extents, where e is
    // at most gamma times the distance of x_i to extent b.
    void (*to_extents)(Points<T> x, Extents<T> extents, T gamma, T* out);
    // Distances of a point to the first `count` of sparse terms with these norms.
    void (*sparse_distances)(Row<T> x, T x_norm, FeatureIndex<T> terms, const T* norms,
                             std::int32_t count, T* out);
};

// The variables beta of some rows, their bounds, and what is left of the targets: see
// polish/pair_steps.hpp.
struct Variables {
    double *beta, *residual;
    const double *lower, *upper;
    double epsilon;
};

// What a merge partner must beat: see maintenance/partner.hpp.
template <class T>
struct Bound {
    T farthest;  // squared distance beyond which nobody can
    T scale;     // 2 gamma
    T beta;      // beta_a
    T cost;      // a little more than the cost to beat
};

template <class T>
struct Leaf {
    // out[i * stride + j] = <x_i, z_j> over whole panels.
    void (*dot)(Points<T> x, Panels<T> z, T* out, std::int64_t stride);
    // out[j] = <x, z_j> for the first `count` of sparse terms.
    void (*sparse_dot)(Row<T> x, FeatureIndex<T> terms, std::int32_t count, T* out);
    // For each of Distances, in their order; radial_of finds one.
    Radial<T> radial[n_distances];
    // out[j] = exp(-gamma * distances[j]) over whole panels.
    void (*decay)(const T* distances, T gamma, std::int32_t count, T* out);
    // sum of weights[j] * exp(-gamma * distances[j]), in double.
    double (*decayed_sum)(const T* distances, T gamma, const double* weights, std::int32_t count);
    // sum of coef[j] * values[j], in double.
    double (*sum)(const double* coef, const T* values, std::int32_t count);
    // sum of a[k] * b[k], and y += scale * x: over the features of a linear machine
    // (polish/ascent.hpp).
    T (*inner)(const T* a, const T* b, std::int32_t count);
    void (*axpy)(T scale, const T* x, T* y, std::int32_t count);
    // ||a - b||^2 from the differences: no cancellation.
    T (*squared_distance)(const T* a, const T* b, std::int32_t count);
    // The index of the smallest |coef[j]|, the first of equals.
    std::int32_t (*smallest)(const double* coef, std::int32_t count);
    // The index of the smallest distance, the first of equals. What else it found out goes to
    // `minima`, half as many values as there are terms at most, for `candidates`.
    std::int32_t (*nearest)(const T* distances, std::int32_t count, T* minima);
    // Lists, in order, the terms but the nearest that may be cheaper to merge with than the bound
    // says.
    std::int32_t (*candidates)(const T* distances, const double* coef, std::int32_t count,
                               Bound<T> bound, std::int32_t nearest, const T* minima,
                               std::int32_t* found);
    // Lists, in order, the values below a limit, over whole panels; room for all.
    std::int32_t (*below)(const T* values, std::int32_t count, T limit, std::int32_t* found);
    // out[i] = sum over j of coef[j] * rows[i][j] for a group of rows, in double. The rows after
    // the group in `rows`, as many again, are brought into the cache.
    void (*dots)(const T* const* rows, const double* coef, std::int32_t count, double* out);
    // sums[j] += sum over a group of rows of scale[i] * rows[i][j], in double; as above.
    void (*add_rows)(const double* scale, const T* const* rows, std::int32_t count, double* sums);
    // Some panels of values, with their numbers: the sum of coef * values, in double ...
    double (*panels_dot)(const T* values, const std::int32_t* numbers, std::int32_t count,
                         const double* coef);
    // ... sums += scale * values ...
    void (*add_panels)(double scale, const T* values, const std::int32_t* numbers,
                       std::int32_t count, double* sums);
    // ... and, of one panel a and one panel b, out[l * stride + m] += scale * a[l] * b[m].
    void (*add_outer)(double scale, const T* a, const T* b, double* out, std::int64_t stride);
    // Derivatives of the dual where beta_i falls and, with the other sign, where it grows; `never`
    // where it must not.
    void (*slopes)(Variables v, std::int32_t count, double never, double* descents,
                   double* downhill);
    // out[i] = 1 / (own + diagonal[i] - 2 values[i]), the curvature of an exchange with row i.
    void (*inverse_curvatures)(const T* values, const T* diagonal, T own, std::int32_t count,
                               T* out);
    // The row that gains most by an exchange with one whose derivative is `highest`; losses has
    // what each would gain, negative.
    std::int32_t (*most_promising)(double highest, const double* downhill, const T* inverse,
                                   std::int32_t count, double* losses);
    // residual -= change * (of_up - of_down)
    void (*exchange)(double change, const T* of_up, const T* of_down, std::int32_t count,
                     double* residual);
};

// The leaf in use, and its name: "baseline", "v3" or "v4" (x86-64 levels).
template <class T>
const Leaf<T>& leaf();
const char* level();

template <class Distance, class T>
BUDGETSVM_INLINE const Radial<T>& radial_of() {
    constexpr int i = position<Distance>(Distances{});
    return leaf<T>().radial[i];
}

}  // namespace budgetsvm
