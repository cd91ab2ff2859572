// SPDX-License-Identifier: BSD-3-Clause
// What kernels have in common. A kernel gives k(x_i, z_j) for some points and all terms at once,
// from dot products or distances and one number per point, its "norm". Of every pair of a point and
// a term something is *kept*, for maintenance and for batches: the distance where the kernel is
// radial, the kernel value otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/point.hpp"
#include "model/spread_row.hpp"

namespace budgetsvm {

// ---- norms: what a kernel needs of a point alone ----

// ||x||^2
struct SquaredNorm {
    template <class T>
    T norm(Row<T> x) const {
        return leaf<T>().inner(x.values, x.values, x.count);
    }
    // The entry with this norm.
    template <class T>
    T entry_of_norm(T norm) const {
        return std::sqrt(norm);
    }
};

// ||x||_1
struct AbsoluteNorm {
    template <class T>
    T norm(Row<T> x) const {
        double sum = 0;
        for (std::int32_t e = 0; e < x.count; ++e) sum += std::fabs(x.values[e]);
        return static_cast<T>(sum);
    }
    template <class T>
    T entry_of_norm(T norm) const {
        return norm;
    }
};

// The same for sparse points: over the features that one of the two has.
template <class T, class Contribution>
void sum_entries(const SparsePoints<T>& points, std::int32_t a, std::int32_t size, double* out,
                 Contribution contribution) {
    for (std::int32_t j = 0; j < size; ++j) {
        out[j] = 0;
        join(points.row(a), points.row(j),
             [&](std::int32_t, T x, T z) { out[j] += contribution(x, z); });
    }
}

// out[j] = sum over the features of contribution(feature of z_a, feature of z_j), in double.
template <class T, class Contribution>
void sum_features(const Terms<T>& terms, std::int32_t a, double* out, Contribution contribution) {
    if (terms.sparse) return sum_entries(*terms.sparse, a, terms.size, out, contribution);
    std::vector<double> point(terms.features);
    terms.copy_point(a, point.data());
    for (std::int32_t start = 0; start < terms.size; start += lanes<T>) {
        double* sums = out + start;
        std::fill(sums, sums + lanes<T>, 0.0);
        for (std::int32_t k = 0; k < terms.features; ++k) {
            const T* z = terms.z(start) + k * lanes<T>;
            for (std::int32_t l = 0; l < lanes<T>; ++l) sums[l] += contribution(point[k], z[l]);
        }
    }
}

// ---- exp(-gamma * distance) ----

// Self has contribution(x, z): what a feature adds to the distance, without cancellation.
template <class Self, class Distance>
struct RadialKernel {
    static constexpr bool translation_invariant = true, sees_only_terms = false;
    double gamma;

    explicit RadialKernel(double gamma) : gamma(gamma) {}

    // The loops of its distance.
    template <class T>
    static const Radial<T>* loops() {
        return &radial_of<Distance, T>();
    }

    // out: for every point the kernel values of all terms.
    template <class T>
    void values(Points<T> x, const Terms<T>& terms, Out<T> out) const {
        if (terms.sparse)
            return for_sparse(x, terms, [&](std::int32_t i, T* row) {
                of_pairs(row, terms.padded_size(), row);
                std::copy(row, row + terms.size, out.values + i * out.stride);
            });
        radial_of<Distance, T>().kernel(x, terms.view(), narrow<T>(gamma), out);
    }

    // sums[i] += f(x_i), by the way keeping something of every pair.
    template <class T>
    void evaluate(Points<T> x, const Terms<T>& terms, Out<T> kept, double* sums) const {
        if (terms.sparse)
            return for_sparse(x, terms, [&](std::int32_t i, T* row) {
                sums[i] += sum_of_pairs(row, terms.coef, terms.size);
                if (kept.width) std::copy(row, row + terms.size, kept.values + i * kept.stride);
            });
        radial_of<Distance, T>().sums(x, terms.view(), narrow<T>(gamma), kept, terms.coef, sums);
    }

    // The same for one point, without f(x): kept[j] for all terms. Kept has room for whole panels.
    template <class T>
    void pairs(Row<T> x, T x_norm, const Terms<T>& terms, T* kept) const {
        if (terms.sparse) return sparse_pairs(x, x_norm, terms, kept);
        radial_of<Distance, T>().distances({&x, &x_norm, 1}, terms.view(),
                                           {kept, 0, terms.view().padded_size()});
    }

    // The same for one point and one other, z, whose features are spread out.
    template <class T>
    T pair(Row<T> x, T x_norm, const SpreadRow<T>& z, T z_norm) const {
        double sum = 0;
        for (std::int32_t e = 0; e < x.count; ++e)
            sum = Distance::template add<PlainMath, double>(sum, x.values[e], z[x.feature(e)]);
        return static_cast<T>(
            std::max(0.0, Distance::template distance<double>(x_norm, z_norm, sum)));
    }

    // Kernel values of what the functions above keep; both have room for whole panels.
    template <class T>
    void of_pairs(const T* kept, std::int32_t count, T* out) const {
        leaf<T>().decay(kept, narrow<T>(gamma), count, out);
    }

    // sum_j weights[j] k_j, the kernel values being those of what the functions above keep.
    template <class T>
    double sum_of_pairs(const T* kept, const double* weights, std::int32_t count) const {
        return leaf<T>().decayed_sum(kept, narrow<T>(gamma), weights, count);
    }

    // out[j] = k(z_a, z_j) for all terms, in double whatever T is: for where kernel matrices are
    // inverted. Out has room for whole panels.
    template <class T>
    void exact_row(const Terms<T>& terms, std::int32_t a, double* out) const {
        sum_features(terms, a, out, [](double x, double z) { return Self::contribution(x, z); });
        for (std::int32_t j = 0; j < terms.size; ++j) out[j] = std::exp(-gamma * out[j]);
    }

    // k(z_j, z_j)
    template <class T>
    double self(const Terms<T>&, std::int32_t) const {
        return 1.0;
    }

  private:
    template <class T>
    static void sparse_pairs(Row<T> x, T x_norm, const Terms<T>& terms, T* kept) {
        radial_of<Distance, T>().sparse_distances(x, x_norm, terms.sparse->index(), terms.norms,
                                                  terms.padded_size(), kept);
    }

    // Calls use(i, the distances of x_i to sparse terms) for all points.
    template <class T, class Use>
    static void for_sparse(Points<T> x, const Terms<T>& terms, Use use) {
        std::vector<T> row(static_cast<std::size_t>(terms.padded_size()));
        for (std::int32_t i = 0; i < x.count; ++i) {
            sparse_pairs(x.rows[i], x.norms[i], terms, row.data());
            use(i, row.data());
        }
    }

    struct PlainMath {
        static double absolute(double x) { return std::fabs(x); }
    };
};

// ---- other kernels, of which the values are kept ----

// Self has rows(x, terms, out, width): the kernel values of all points and terms, a row of this
// width for every point.
template <class Self>
struct ValueKernel : SquaredNorm {
    static constexpr bool translation_invariant = false;

    template <class T>
    void values(Points<T> x, const Terms<T>& terms, Out<T> out) const {
        for_rows(x, terms, [&](std::int32_t i, const T* row) {
            std::copy(row, row + terms.size, out.values + i * out.stride);
        });
    }

    template <class T>
    void evaluate(Points<T> x, const Terms<T>& terms, Out<T> kept, double* sums) const {
        for_rows(x, terms, [&](std::int32_t i, const T* row) {
            sums[i] += leaf<T>().sum(terms.coef, row, terms.size);
            if (kept.width) std::copy(row, row + terms.size, kept.values + i * kept.stride);
        });
    }

    template <class T>
    void pairs(Row<T> x, T x_norm, const Terms<T>& terms, T* kept) const {
        for_rows(Points<T>{&x, &x_norm, 1}, terms,
                 [&](std::int32_t, const T* row) { std::copy(row, row + terms.size, kept); });
    }

    template <class T>
    void of_pairs(const T* kept, std::int32_t count, T* out) const {
        std::copy(kept, kept + count, out);
    }

    template <class T>
    double sum_of_pairs(const T* kept, const double* weights, std::int32_t count) const {
        return leaf<T>().sum(weights, kept, count);
    }

  private:
    // Calls use(i, kernel row of x_i) for all points.
    template <class T, class Use>
    void for_rows(Points<T> x, const Terms<T>& terms, Use use) const {
        const std::int32_t width = terms.padded_size();
        std::vector<T> rows(static_cast<std::size_t>(x.count) * width);
        static_cast<const Self&>(*this).rows(x, terms, rows.data(), width);
        for (std::int32_t i = 0; i < x.count; ++i)
            use(i, rows.data() + static_cast<std::int64_t>(i) * width);
    }
};

// Functions of the dot product: Self has of(dot).
template <class Self>
struct DotKernel : ValueKernel<Self> {
    static constexpr bool sees_only_terms = false;

    template <class T>
    void rows(Points<T> x, const Terms<T>& terms, T* out, std::int64_t width) const {
        if (terms.sparse)
            for (std::int32_t i = 0; i < x.count; ++i)
                leaf<T>().sparse_dot(x.rows[i], terms.sparse->index(), terms.size, out + i * width);
        else
            leaf<T>().dot(x, terms.view(), out, width);
        for (std::int32_t i = 0; i < x.count; ++i)
            for (std::int32_t j = 0; j < terms.size; ++j)
                out[i * width + j] = static_cast<T>(derived().of(out[i * width + j]));
    }

    template <class T>
    T pair(Row<T> x, T, const SpreadRow<T>& z, T) const {
        double sum = 0;
        for (std::int32_t e = 0; e < x.count; ++e)
            sum += static_cast<double>(x.values[e]) * z[x.feature(e)];
        return static_cast<T>(derived().of(sum));
    }

    template <class T>
    void exact_row(const Terms<T>& terms, std::int32_t a, double* out) const {
        sum_features(terms, a, out, [](double x, double z) { return x * z; });
        for (std::int32_t j = 0; j < terms.size; ++j) out[j] = derived().of(out[j]);
    }

    template <class T>
    double self(const Terms<T>& terms, std::int32_t j) const {
        return derived().of(terms.norms[j]);
    }

  private:
    const Self& derived() const { return static_cast<const Self&>(*this); }
};

}  // namespace budgetsvm
