// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by projection: remove the term a with the smallest |beta| and distribute it
// over all others by least squares in feature space, beta_j += beta_a x_j with
//     (K + ridge) x = k_a,   K_ij = k(z_i, z_j),   (k_a)_j = k(z_a, z_j).   Any kernel.
// The ridge keeps the coefficients bounded where terms are nearly dependent: |x|^2 <= 1 / (4
// ridge).
//
// The Cholesky factor of K + ridge is kept up to date: a new term appends a row, a removed one is a
// rank-one update of the rows behind it. So a reduction costs O(B^2), not O(B^3).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "evaluate/batch.hpp"
#include "maintenance/options.hpp"
#include "model/joint_terms.hpp"

namespace budgetsvm {

template <class T>
class Project {
  public:
    static constexpr const char* name = "project";
    static const char* objection(const Kernel&) { return nullptr; }
    using Joint = Project;

    Project(const Kernel& kernel, const Terms<T>& terms, const MaintenanceOptions&)
        : kernel_(kernel), kernel_row_(terms.capacity) {}

    // Returns the degradation beta_a^2 ||phi(z_a) - sum_j x_j phi(z_j)||^2.
    double reduce(Terms<T>& terms, Batch<T>& batch) {
        batch.place_pending(terms);
        batch.revalue_all();
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        const double beta = terms.coef[a];
        const double residual = distribute(
            terms, a, [&](std::int32_t j, double share) { terms.coef[j] += beta * share; });
        batch.remove(terms, a);
        return beta * beta * residual;
    }

    // The same with rows of coefficients: beta_j += x_j beta_a.
    double reduce(JointTerms<T>& model, const T*) {
        const std::int32_t a = leaf<T>().smallest(model.terms.coef, model.terms.size);
        const double size = model.terms.coef[a];
        beta_.assign(model.row(a), model.row(a) + model.outputs);
        const double residual = distribute(model.terms, a, [&](std::int32_t j, double share) {
            model.add(j, share, beta_.data());
        });
        model.remove(a);
        return size * size * residual;
    }

  private:
    // Calls use(j, x_j) for all terms but a, which the caller is to remove. Returns
    // ||phi(z_a) - sum_j x_j phi(z_j)||^2.
    template <class Use>
    double distribute(const Terms<T>& terms, std::int32_t a, Use use) {
        while (static_cast<std::int32_t>(order_.size()) < terms.size)
            append(terms, static_cast<std::int32_t>(order_.size()));
        kernel_.exact_row(terms, a, kernel_row_.data());
        erase(position_of(a));
        fetch_column();
        solve_lower();
        // A projection is never longer than what is projected. Where it is, the kernel is not
        // positive definite, and coefficients would grow without bounds, term by term: then the
        // term is just removed.
        if (squared_norm(column_) > kernel_row_[a] + relative_ridge * largest_)
            std::fill(column_.begin(), column_.end(), 0.0);
        solve_upper();
        double residual = kernel_row_[a];
        for (std::size_t i = 0; i < order_.size(); ++i) {
            residual -= column_[i] * (kernel_row_[order_[i]] + ridges_[i] * column_[i]);
            use(order_[i], column_[i]);
        }
        const std::int32_t last = terms.size - 1;
        if (a != last) order_[position_of(last)] = a;  // removal moves the last term to a
        return std::max(0.0, residual);
    }

    // Relative to the largest kernel value: large enough for sums of such coefficients in precision
    // T.
    static constexpr double relative_ridge = sizeof(T) == 4 ? 1e-6 : 1e-10;

    double* row(std::size_t i) { return rows_[i].data(); }

    static double squared_norm(const std::vector<double>& x) {
        double sum = 0;
        for (const double value : x) sum += value * value;
        return sum;
    }

    std::size_t position_of(std::int32_t term) const {
        return std::find(order_.begin(), order_.end(), term) - order_.begin();
    }

    // column_ := the kernel row of the term at hand, in the order of the factor
    void fetch_column() {
        column_.resize(order_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) column_[i] = kernel_row_[order_[i]];
    }

    void append(const Terms<T>& terms, std::int32_t j) {
        kernel_.exact_row(terms, j, kernel_row_.data());
        for (std::int32_t i = 0; i < terms.size; ++i)
            largest_ = std::max(largest_, std::fabs(kernel_row_[i]));
        double ridge = relative_ridge * largest_;
        fetch_column();
        solve_lower();
        const double explained = squared_norm(column_);
        double pivot = kernel_row_[j] + ridge - explained;
        // Only a kernel that is not positive definite, or a term that is zero, comes to this: a
        // pivot that outweighs its row all but takes the term out of the projection.
        if (!(pivot >= 0.5 * ridge) || pivot == 0) {
            const double lifted = explained + (largest_ > 0 ? largest_ : 1.0);
            ridge += lifted - pivot;
            pivot = lifted;
        }
        column_.push_back(std::sqrt(pivot));
        rows_.push_back(column_);
        ridges_.push_back(ridge);
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
        ridges_.erase(ridges_.begin() + static_cast<std::ptrdiff_t>(p));
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
    }

    const Kernel& kernel_;
    std::vector<double> kernel_row_, column_, beta_;
    std::vector<std::vector<double>> rows_;  // the lower triangle L, row by row
    std::vector<std::int32_t> order_;        // row i of L belongs to term order_[i] ...
    std::vector<double> ridges_;             // ... and has this ridge
    double largest_ = 0;                     // |kernel value| so far
};

}  // namespace budgetsvm
