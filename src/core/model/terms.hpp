// SPDX-License-Identifier: BSD-3-Clause
// The model: a list of terms (beta_j, z_j) with f(x) = sum_j beta_j k(x, z_j), on arrays that the
// caller owns. `size` is the current number of terms, `capacity` how many the arrays can hold. The
// points are in panels, or sparse: who reads or writes them here need not know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "leaf/leaf.hpp"
#include "model/sparse_points.hpp"

namespace budgetsvm {

// A finite value of type T.
template <class T>
T narrow(double value) {
    return static_cast<T>(std::min<double>(value, std::numeric_limits<T>::max()));
}

template <class T>
struct Terms {
    T* panels;     // (panels, features, lanes): see leaf/leaf.hpp; null: the points are sparse
    T* norms;      // per term, what the kernel needs of z_j alone: Kernel::norm
    double* coef;  // beta_j
    std::int32_t size;
    std::int32_t capacity;
    std::int32_t features;
    std::shared_ptr<SparsePoints<T>> sparse = nullptr;

    // Before anything is done with the points: a call that does begins with this.
    void prepare() const {
        if (sparse) sparse->prepare();
    }

    std::int32_t padded_size() const { return padded(size, lanes<T>); }

    // The most entries that a point can have.
    std::int32_t room() const { return sparse ? sparse->room() : features; }

    Panels<T> view() const { return {panels, norms, features, size}; }

    // Feature k of term j is z(j)[k * lanes].
    T* z(std::int32_t j) const {
        return panels + static_cast<std::int64_t>(j / lanes<T>) * features * lanes<T> +
               j % lanes<T>;
    }

    template <class U>
    void copy_point(std::int32_t j, U* out) const {
        const T* column = z(j);
        for (std::int32_t k = 0; k < features; ++k) out[k] = column[k * lanes<T>];
    }

    // One more term; its point is to follow by place(), if it stays.
    void append(T norm, double beta) {
        norms[size] = norm;
        coef[size++] = beta;
    }

    void set(std::int32_t j, Row<T> x, T norm, double beta) {
        place(j, x);
        norms[j] = norm;
        coef[j] = beta;
    }

    void place(std::int32_t j, Row<T> x) {
        if (sparse) return sparse->place(j, x);
        if (x.count < features) {
            T* column = z(j);
            for (std::int64_t k = 0; k < features; ++k) column[k * lanes<T>] = T(0);
        }
        place_entries(j, x);
    }

    // The same where all other features are zero already.
    void place_entries(std::int32_t j, Row<T> x) {
        T* column = z(j);
        if (x.indices)
            for (std::int32_t e = 0; e < x.count; ++e)
                column[static_cast<std::int64_t>(x.indices[e]) * lanes<T>] = x.values[e];
        else
            for (std::int32_t k = 0; k < x.count; ++k)
                column[static_cast<std::int64_t>(k) * lanes<T>] = x.values[k];
    }

    // The last term takes the place of term j.
    void remove(std::int32_t j) {
        --size;
        if (sparse) sparse->move(size, j);
        if (j == size) return;
        if (!sparse) move_column(size, j);
        norms[j] = norms[size];
        coef[j] = coef[size];
    }

  private:
    void move_column(std::int32_t last, std::int32_t j) {
        T* to = z(j);
        const T* from = z(last);
        for (std::int32_t k = 0; k < features; ++k) to[k * lanes<T>] = from[k * lanes<T>];
    }
};

}  // namespace budgetsvm
