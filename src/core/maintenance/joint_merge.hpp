// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by merging, where terms have a row of coefficients each (Gaussian kernel
// only).
//
// As in merge.hpp, with inner products of rows in place of products of coefficients: the term whose
// row has the smallest norm and the M - 1 partners that cost the least are folded pairwise into one
// point z. The best row for that point is beta = sum_m k(z_m, z) beta_m, and the degradation
//     sum_ml <beta_m, beta_l> (k(z_m, z_l) - k(z_m, z) k(z_l, z)).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "maintenance/joint_merge_point.hpp"
#include "maintenance/options.hpp"
#include "model/joint_terms.hpp"
#include "model/kernel.hpp"

namespace budgetsvm {

template <class T>
class JointMerge {
  public:
    JointMerge(const Kernel& kernel, const Terms<T>& terms, const MaintenanceOptions& options)
        : kernel_(*kernel.as<Gaussian>()),
          options_(options),
          distances_(static_cast<std::size_t>(padded(terms.capacity, lanes<T>))) {}

    // Returns the degradation. Nothing to merge with: the term is removed.
    double reduce(JointTerms<T>& model, const T* newest) {
        const std::int32_t a = leaf<T>().smallest(model.terms.coef, model.terms.size);
        const double size = model.terms.coef[a];
        members_.assign(1, a);
        if (size > 0) find_partners(model, a, distances_of(model.terms, a, newest));
        if (members_.size() > 1) return fold(model);
        model.remove(a);
        return size * size;
    }

  private:
    // Unless all are to be asked, the nearest terms are candidates: the degradation grows with the
    // distance, and only where rows point to opposite directions may another one be better.
    static constexpr int candidates_per_term = 8;
    static constexpr int rough_iterations = 4, precise_iterations = 40;

    const T* distances_of(const Terms<T>& terms, std::int32_t a, const T* newest) {
        if (newest && a == terms.size - 1) return newest;
        point_.take(terms, a);
        kernel_.pairs(point_.row(), terms.norms[a], terms, distances_.data());
        return distances_.data();
    }

    double scaled(double squared) const {
        return std::min(kernel_.gamma * squared, 2 * merge_horizon);
    }

    // The cosine between rows of these norms.
    static double cosine(double product, double norms) {
        return norms > 0 ? std::clamp(product / norms, -1.0, 1.0) : 0.0;
    }

    JointPoint merge_point(double rho, double t, double L, int iterations) const {
        return options_.golden ? golden_joint_point(rho, t, L)
                               : joint_merge_point(rho, t, L, iterations);
    }

    // Adds to the members the partners of a, in order of cost.
    void find_partners(const JointTerms<T>& model, std::int32_t a, const T* distances) {
        nearest_.clear();
        for (std::int32_t j = 0; j < model.terms.size; ++j)
            if (j != a && model.terms.coef[j] > 0 &&
                !(options_.same_sign && model.product(a, j) < 0))
                nearest_.emplace_back(distances[j], j);
        const std::size_t asked = static_cast<std::size_t>(candidates_per_term) * options_.n_terms;
        if (!options_.golden && asked < nearest_.size()) {
            std::partial_sort(nearest_.begin(), nearest_.begin() + asked, nearest_.end());
            nearest_.resize(asked);
        }
        ranking_.clear();
        for (const auto& [distance, j] : nearest_)
            ranking_.emplace_back(cost(model, a, j, distance), j);
        const auto wanted = std::min<std::size_t>(options_.n_terms - 1, ranking_.size());
        std::partial_sort(ranking_.begin(), ranking_.begin() + wanted, ranking_.end());
        for (std::size_t i = 0; i < wanted; ++i) members_.push_back(ranking_[i].second);
    }

    double cost(const JointTerms<T>& model, std::int32_t a, std::int32_t j, T distance) const {
        const double light = model.terms.coef[a], heavy = model.terms.coef[j];
        const double t = cosine(model.product(a, j), light * heavy);
        return heavy * heavy *
               merge_point(light / heavy, t, scaled(distance), rough_iterations).degradation;
    }

    // Replace all members by one term. It takes the place of the first of them; the others are
    // removed from the highest index down, as removal moves the last term.
    double fold(JointTerms<T>& model) {
        Terms<T>& terms = model.terms;
        load_members(model);
        point_ = points_[0], row_ = rows_[0];
        for (std::size_t i = 1; i < members_.size(); ++i)
            absorb(i, terms.room(), i + 1 < members_.size());
        const double degradation = refold();
        std::sort(members_.begin(), members_.end());
        const std::int32_t first = members_[0];
        terms.place(first, point_.row());
        terms.norms[first] = kernel_.norm(point_.row());
        model.set_row(first, row_.data());
        for (std::size_t i = members_.size() - 1; i > 0; --i) model.remove(members_[i]);
        return std::max(0.0, degradation);
    }

    void load_members(const JointTerms<T>& model) {
        if (points_.size() < members_.size()) {
            points_.resize(members_.size());
            rows_.resize(members_.size());
        }
        for (std::size_t i = 0; i < members_.size(); ++i) {
            points_[i].take(model.terms, members_[i]);
            const double* row = model.row(members_[i]);
            rows_[i].assign(row, row + model.outputs);
        }
    }

    // Merge member i into the point so far and, if more are to come, the row. Sparse points that
    // together have more entries than there is room for are merged where the heavier one is.
    void absorb(std::size_t i, std::int32_t room, bool more) {
        const double own = std::sqrt(product(row_, row_));
        const double other = std::sqrt(product(rows_[i], rows_[i]));
        const double t = cosine(product(row_, rows_[i]), own * other);
        const double L = scaled(point_.squared_distance(points_[i]));
        const bool lighter = own <= other;
        const double rho = lighter ? own / other : other / own;
        const bool fits = point_.fits(points_[i], room);
        const double h = fits ? merge_point(rho, t, L, precise_iterations).h : 0.0;
        const double share = lighter ? h : 1 - h, rest = 1 - share;
        point_.mix(static_cast<T>(share), points_[i], static_cast<T>(rest));
        if (!more) return;
        const double kept = std::exp(-L * rest * rest), added = std::exp(-L * share * share);
        for (std::size_t c = 0; c < row_.size(); ++c)
            row_[c] = kept * row_[c] + added * rows_[i][c];
    }

    // row_ := the best for the point that was found. Returns the degradation.
    double refold() {
        double degradation = 0;
        apart_.clear();
        std::fill(row_.begin(), row_.end(), 0.0);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            apart_.push_back(scaled(points_[i].squared_distance(point_)));
            const double seen = std::exp(-apart_[i]);
            for (std::size_t c = 0; c < row_.size(); ++c) row_[c] += seen * rows_[i][c];
            degradation += product(rows_[i], rows_[i]) * -std::expm1(-2 * apart_[i]);
            for (std::size_t j = 0; j < i; ++j)
                degradation += 2 * product(rows_[i], rows_[j]) *
                               exp_difference(scaled(points_[i].squared_distance(points_[j])),
                                              apart_[i] + apart_[j]);
        }
        return degradation;
    }

    static double product(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
        return sum;
    }

    const Gaussian& kernel_;
    MaintenanceOptions options_;
    std::vector<T> distances_;
    Point<T> point_;
    std::vector<std::pair<T, std::int32_t>> nearest_;
    std::vector<std::pair<double, std::int32_t>> ranking_;
    std::vector<std::int32_t> members_;  // a, then its partners in order of cost
    std::vector<Point<T>> points_;
    std::vector<std::vector<double>> rows_;
    std::vector<double> row_, apart_;
};

}  // namespace budgetsvm
