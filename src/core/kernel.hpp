// SPDX-License-Identifier: BSD-3-Clause
// Kernels: k(x_i, z_j) for some points and all terms at once, from dot products or L1 distances and
// one number per point ("norm"): ||x||^2, or ||x||_1 for the Laplacian kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "terms.hpp"

namespace budgetsvm {

enum class KernelKind { gaussian, laplacian, polynomial, sigmoid, linear, callable };

struct Kernel {
    KernelKind kind;
    double gamma;
    double coef0;
    int degree;
    // kind == callable: fills out[0..size) with k(x, z_j); x has all its features.
    std::function<void(const double* x, std::int32_t size, double* out)> callback;

    bool translation_invariant() const {
        return kind == KernelKind::gaussian || kind == KernelKind::laplacian;
    }

    template <class T>
    T norm(Row<T> x) const {
        if (kind != KernelKind::laplacian) return leaf<T>().inner(x.values, x.values, x.count);
        double sum = 0;
        for (std::int32_t e = 0; e < x.count; ++e) sum += std::fabs(x.values[e]);
        return static_cast<T>(sum);
    }

    // out: for every point the kernel values of all terms.
    template <class T>
    void values(Points<T> x, const Terms<T>& terms, Out<T> out) const {
        if (translation_invariant())
            return radial<T>().kernel(x, terms.view(), narrow<T>(gamma), out);
        plain_rows(x, terms, [&](std::int32_t i, const T* row) {
            std::copy(row, row + terms.size, out.values + i * out.stride);
        });
    }

    // sums[i] += f(x_i), by the way keeping what maintenance needs of every pair: the distances for
    // the radial kernels, kernel values for others.
    template <class T>
    void evaluate(Points<T> x, const Terms<T>& terms, Out<T> kept, double* sums) const {
        if (terms.size == 0) return;
        if (translation_invariant())
            return radial<T>().sums(x, terms.view(), narrow<T>(gamma), kept, terms.coef, sums);
        plain_rows(x, terms, [&](std::int32_t i, const T* row) {
            sums[i] += leaf<T>().sum(terms.coef, row, terms.size);
            if (kept.width) std::copy(row, row + terms.size, kept.values + i * kept.stride);
        });
    }

    // The same for one point, without f(x): kept[j] for all terms. Kept has room for whole panels.
    template <class T>
    void pairs(Row<T> x, T x_norm, const Terms<T>& terms, T* kept) const {
        const Points<T> point{&x, &x_norm, 1};
        if (translation_invariant())
            return radial<T>().distances(point, terms.view(),
                                         {kept, 0, terms.view().padded_size()});
        plain_rows(point, terms,
                   [&](std::int32_t, const T* row) { std::copy(row, row + terms.size, kept); });
    }

    // The same for one point and one other, z, whose features are spread out.
    template <class T>
    T pair(Row<T> x, T x_norm, const T* z, T z_norm) const {
        double sum = 0;
        for (std::int32_t e = 0; e < x.count; ++e) {
            const double a = x.values[e], b = z[x.feature(e)];
            sum += kind == KernelKind::laplacian ? std::fabs(a - b) - std::fabs(b) : a * b;
        }
        if (kind == KernelKind::gaussian) sum = static_cast<double>(x_norm) + z_norm - 2 * sum;
        if (kind == KernelKind::laplacian) sum += z_norm;
        return static_cast<T>(translation_invariant() ? std::max(0.0, sum) : of_dot(sum));
    }

    // Kernel values of what the functions above keep; both have room for whole panels.
    template <class T>
    void of_pairs(const T* kept, std::int32_t count, T* out) const {
        if (translation_invariant())
            leaf<T>().decay(kept, narrow<T>(gamma), count, out);
        else
            std::copy(kept, kept + count, out);
    }

    // sum_j weights[j] k_j, the kernel values being those of what the functions above keep.
    template <class T>
    double sum_of_pairs(const T* kept, const double* weights, std::int32_t count) const {
        if (translation_invariant())
            return leaf<T>().decayed_sum(kept, narrow<T>(gamma), weights, count);
        return leaf<T>().sum(weights, kept, count);
    }

    // out[j] = k(z_a, z_j) for all terms, in double whatever T is: for where kernel matrices are
    // inverted. Out has room for whole panels.
    template <class T>
    void exact_row(const Terms<T>& terms, std::int32_t a, double* out) const {
        std::vector<double> point(terms.features);
        for (std::int32_t k = 0; k < terms.features; ++k) point[k] = terms.z(a)[k * lanes<T>];
        if (kind == KernelKind::callable) return callback(point.data(), terms.size, out);
        for (std::int32_t start = 0; start < terms.size; start += lanes<T>) {
            double* sums = out + start;
            std::fill(sums, sums + lanes<T>, 0.0);
            for (std::int32_t k = 0; k < terms.features; ++k) {
                const T* z = terms.z(start) + k * lanes<T>;
                for (std::int32_t l = 0; l < lanes<T>; ++l) sums[l] += contribution(point[k], z[l]);
            }
        }
        for (std::int32_t j = 0; j < terms.size; ++j)
            out[j] = translation_invariant() ? std::exp(-gamma * out[j]) : of_dot(out[j]);
    }

    // k(z_j, z_j)
    template <class T>
    double self(const Terms<T>& terms, std::int32_t j) const {
        if (translation_invariant()) return 1.0;
        if (kind != KernelKind::callable) return of_dot(terms.norms[j]);
        std::vector<double> values(terms.size);
        exact_row(terms, j, values.data());
        return values[j];
    }

  private:
    // What one feature adds to the squared distance, the L1 distance or the dot product.
    double contribution(double x, double z) const {
        switch (kind) {
            case KernelKind::gaussian:
                return (x - z) * (x - z);
            case KernelKind::laplacian:
                return std::fabs(x - z);
            case KernelKind::polynomial:
            case KernelKind::sigmoid:
            case KernelKind::linear:
            case KernelKind::callable:
                break;
        }
        return x * z;
    }

    double of_dot(double dot) const {
        switch (kind) {
            case KernelKind::polynomial:
                return std::pow(gamma * dot + coef0, degree);
            case KernelKind::sigmoid:
                return std::tanh(gamma * dot + coef0);
            case KernelKind::gaussian:
            case KernelKind::laplacian:
            case KernelKind::linear:
            case KernelKind::callable:
                break;
        }
        return dot;
    }

    template <class T>
    const Radial<T>& radial() const {
        return kind == KernelKind::gaussian ? leaf<T>().gaussian : leaf<T>().laplacian;
    }

    // Calls use(i, kernel row of x_i) for all points; for kernels that are not radial.
    template <class T, class Use>
    void plain_rows(Points<T> x, const Terms<T>& terms, Use use) const {
        const std::int32_t width = terms.view().padded_size();
        std::vector<T> rows(static_cast<std::size_t>(x.count) * width);
        if (kind != KernelKind::callable) leaf<T>().dot(x, terms.view(), rows.data(), width);
        for (std::int32_t i = 0; i < x.count; ++i) {
            T* row = rows.data() + static_cast<std::int64_t>(i) * width;
            if (kind == KernelKind::callable)
                call(x.rows[i], terms, row);
            else
                for (std::int32_t j = 0; j < terms.size; ++j)
                    row[j] = static_cast<T>(of_dot(row[j]));
            use(i, row);
        }
    }

    template <class T>
    void call(Row<T> x, const Terms<T>& terms, T* out) const {
        std::vector<double> point(terms.features), values(terms.size);
        x.spread(point.data());
        callback(point.data(), terms.size, values.data());
        for (std::int32_t j = 0; j < terms.size; ++j) out[j] = static_cast<T>(values[j]);
    }
};

}  // namespace budgetsvm
