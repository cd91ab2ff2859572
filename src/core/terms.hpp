// SPDX-License-Identifier: BSD-3-Clause
// The model: a list of terms (beta_j, z_j) with f(x) = sum_j beta_j k(x, z_j), on arrays that the
// caller owns. `size` is the current number of terms, `capacity` how many the arrays can hold.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "leaf.hpp"

namespace budgetsvm {

template <class T>
struct Terms {
    T* panels;     // (panels, features, lanes): see leaf.hpp
    T* norms;      // per term, what the kernel needs of z_j alone: Kernel::norm
    double* coef;  // beta_j
    std::int32_t size;
    std::int32_t capacity;
    std::int32_t features;

    std::int32_t n_panels() const { return (size + lanes<T> - 1) / lanes<T>; }

    // Feature k of term j is z(j)[k * lanes].
    T* z(std::int32_t j) const {
        return panels + static_cast<std::int64_t>(j / lanes<T>) * features * lanes<T> +
               j % lanes<T>;
    }

    void copy_point(std::int32_t j, T* out) const {
        const T* column = z(j);
        for (std::int32_t k = 0; k < features; ++k) out[k] = column[k * lanes<T>];
    }

    void add(Row<T> x, double norm, double beta) {
        set(size, x, norm, beta);
        ++size;
    }

    void set(std::int32_t j, Row<T> x, double norm, double beta) {
        T* column = z(j);
        if (x.indices)
            for (std::int32_t k = 0; k < features; ++k) column[k * lanes<T>] = T(0);
        for (std::int32_t e = 0; e < x.count; ++e) column[x.feature(e) * lanes<T>] = x.values[e];
        norms[j] = static_cast<T>(norm);
        coef[j] = beta;
    }

    // The last term takes the place of term j.
    void remove(std::int32_t j) {
        --size;
        if (j == size) return;
        T* to = z(j);
        const T* from = z(size);
        for (std::int32_t k = 0; k < features; ++k) to[k * lanes<T>] = from[k * lanes<T>];
        norms[j] = norms[size];
        coef[j] = coef[size];
    }

    // ||z_i - z_j||^2 from the differences, in double: no cancellation.
    double squared_distance(std::int32_t i, std::int32_t j) const {
        const T *a = z(i), *b = z(j);
        double sum = 0;
        for (std::int32_t k = 0; k < features; ++k) {
            const double difference = static_cast<double>(a[k * lanes<T>]) - b[k * lanes<T>];
            sum += difference * difference;
        }
        return sum;
    }
};

// Buffers that one call of a solver works in: no allocation inside its loop.
template <class T>
struct Scratch {
    std::vector<T> kernel_row, distances;  // Kernel::row; distances for radial kernels only
    std::vector<T> bounds, point;
    std::int32_t row_of = -1;  // the term that kernel_row and distances belong to, -1: none

    explicit Scratch(const Terms<T>& terms)
        : kernel_row(padded(terms.capacity)),
          distances(padded(terms.capacity)),
          bounds(padded(terms.capacity)),
          point(terms.features) {}

  private:
    static std::size_t padded(std::int32_t n) {
        return static_cast<std::size_t>((n + lanes<T> - 1) / lanes<T>) * lanes<T>;
    }
};

}  // namespace budgetsvm
