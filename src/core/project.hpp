// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by projection: remove the term a with the smallest |beta| and distribute it
// over all others by least squares in feature space, beta_j += beta_a (K^-1 k_a)_j. Any kernel.
//
// The Cholesky factor of the kernel matrix of the terms is kept up to date: a new term appends a
// row, a removed one is a rank-one update of the rows behind it. So a reduction costs O(B^2), not
// O(B^3). Nearly dependent terms are handled by a floor under the pivots.
#pragma once

#include <algorithm>

#include "kernel.hpp"

namespace budgetsvm {

template <class T>
class Project {
  public:
    Project(const Kernel& kernel, Scratch<T>& scratch) : kernel_(kernel), scratch_(scratch) {}

    // Returns the degradation beta_a^2 ||phi(z_a) - projection||^2.
    double reduce(Terms<T>& terms) {
        while (static_cast<std::int32_t>(order_.size()) < terms.size)
            append(terms, static_cast<std::int32_t>(order_.size()));
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        const double beta = terms.coef[a], self = kernel_.self(terms, a, scratch_);
        fetch_row(terms, a);
        erase(position_of(a));
        for (std::size_t i = 0; i < order_.size(); ++i) column_[i] = scratch_.kernel_row[order_[i]];
        solve_lower();
        double explained = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) explained += column_[i] * column_[i];
        solve_upper();
        for (std::size_t i = 0; i < order_.size(); ++i) terms.coef[order_[i]] += beta * column_[i];
        const std::int32_t last = terms.size - 1;
        if (a != last) order_[position_of(last)] = a;  // removal moves the last term to a
        terms.remove(a);
        return beta * beta * std::max(0.0, self - explained);
    }

  private:
    // Relative floor under the squared pivots: the share of a term that must be new.
    double floor(double self) const {
        return (sizeof(T) == 4 ? 1e-6 : 1e-12) * std::fabs(self) + 1e-300;
    }

    double* row(std::size_t i) { return rows_[i].data(); }

    std::size_t position_of(std::int32_t term) const {
        return std::find(order_.begin(), order_.end(), term) - order_.begin();
    }

    void fetch_row(const Terms<T>& terms, std::int32_t j) {
        terms.copy_point(j, scratch_.point.data());
        kernel_.row<T>({scratch_.point.data(), nullptr, terms.features}, terms.norms[j], terms,
                       scratch_.kernel_row.data());
    }

    void append(const Terms<T>& terms, std::int32_t j) {
        const double self = kernel_.self(terms, j, scratch_);
        fetch_row(terms, j);
        const std::size_t n = order_.size();
        column_.resize(n + 1);
        for (std::size_t i = 0; i < n; ++i) column_[i] = scratch_.kernel_row[order_[i]];
        solve_lower();
        double pivot = self;
        for (std::size_t i = 0; i < n; ++i) pivot -= column_[i] * column_[i];
        column_[n] = std::sqrt(std::max(pivot, floor(self)));
        rows_.push_back(column_);
        order_.push_back(j);
    }

    // column_ := L^-1 column_
    void solve_lower() {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const double* l = row(i);
            double sum = column_[i];
            for (std::size_t k = 0; k < i; ++k) sum -= l[k] * column_[k];
            column_[i] = sum / l[i];
        }
    }

    // column_ := L^-T column_
    void solve_upper() {
        for (std::size_t i = order_.size(); i-- > 0;) {
            const double* l = row(i);
            const double value = column_[i] /= l[i];
            for (std::size_t k = 0; k < i; ++k) column_[k] -= l[k] * value;
        }
    }

    // Delete row p of the factor: what its column held is rotated into the rows behind (a rank-one
    // update, which is stable).
    void erase(std::size_t p) {
        rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(p));
        order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(p));
        const std::size_t n = order_.size();
        std::vector<double> cosine(n), sine(n);
        for (std::size_t i = p; i < n; ++i) {
            double* l = row(i);
            double x = l[p];
            rows_[i].erase(rows_[i].begin() + static_cast<std::ptrdiff_t>(p));
            for (std::size_t k = p; k < i; ++k) {
                const double old = l[k];
                l[k] = cosine[k] * old + sine[k] * x;
                x = cosine[k] * x - sine[k] * old;
            }
            const double radius = std::hypot(l[i], x);
            cosine[i] = l[i] / radius, sine[i] = x / radius;
            l[i] = radius;
        }
        column_.resize(n);
    }

    const Kernel& kernel_;
    Scratch<T>& scratch_;
    std::vector<std::vector<double>> rows_;  // the lower triangle L, row by row
    std::vector<std::int32_t> order_;        // row i of L belongs to term order_[i]
    std::vector<double> column_;
};

}  // namespace budgetsvm
