// SPDX-License-Identifier: BSD-3-Clause
// Kernels: k(x, z_j) for one x and all terms at once, from dot products or L1 distances and one
// number per point ("norm"): ||x||^2, or ||x||_1 for the Laplacian kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "terms.hpp"

namespace budgetsvm {

// A finite value of type T.
template <class T>
T narrow(double value) {
    return static_cast<T>(std::min<double>(value, std::numeric_limits<T>::max()));
}

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
    double norm(Row<T> x) const {
        double sum = 0;
        for (std::int32_t e = 0; e < x.count; ++e) {
            const double value = x.values[e];
            sum += kind == KernelKind::laplacian ? std::fabs(value) : value * value;
        }
        return sum;
    }

    // scratch.kernel_row[j] = k(x, z_j) for all terms; for the radial kernels also
    // scratch.distances[j] = ||x - z_j||^2, or ||x - z_j||_1 for the Laplacian.
    template <class T>
    void row(Row<T> x, double x_norm, const Terms<T>& terms, Scratch<T>& scratch) const {
        T *out = scratch.kernel_row.data(), *apart = scratch.distances.data();
        scratch.row_of = -1;
        switch (kind) {
            case KernelKind::gaussian:
                leaf<T>().dot(x, terms.panels, terms.features, terms.n_panels(), apart);
                leaf<T>().distance(apart, terms.norms, static_cast<T>(x_norm), T(-2), terms.size);
                return leaf<T>().decay(apart, narrow<T>(gamma), terms.size, out);
            case KernelKind::laplacian:
                leaf<T>().l1(x, terms.panels, terms.features, terms.n_panels(), apart);
                leaf<T>().distance(apart, terms.norms, T(0), T(1), terms.size);
                return leaf<T>().decay(apart, narrow<T>(gamma), terms.size, out);
            case KernelKind::callable:
                return call(x, terms, out);
            default:
                leaf<T>().dot(x, terms.panels, terms.features, terms.n_panels(), out);
                for (std::int32_t j = 0; j < terms.size; ++j)
                    out[j] = static_cast<T>(of_dot(out[j]));
        }
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
            default:
                return x * z;
        }
    }

    double of_dot(double dot) const {
        switch (kind) {
            case KernelKind::polynomial:
                return std::pow(gamma * dot + coef0, degree);
            case KernelKind::sigmoid:
                return std::tanh(gamma * dot + coef0);
            default:
                return dot;
        }
    }

    template <class T>
    void call(Row<T> x, const Terms<T>& terms, T* out) const {
        std::vector<double> point(terms.features), values(terms.size);
        for (std::int32_t e = 0; e < x.count; ++e) point[x.feature(e)] = x.values[e];
        callback(point.data(), terms.size, values.data());
        for (std::int32_t j = 0; j < terms.size; ++j) out[j] = static_cast<T>(values[j]);
    }
};

}  // namespace budgetsvm
