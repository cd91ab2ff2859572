// SPDX-License-Identifier: BSD-3-Clause
// The partners that term a is merged with: those that cost the least.
//
// A partner's cost is its degradation in units of beta_a^2: s / r (see degradation_table.hpp), s
// growing with the distance and r <= (1 + |rho|)^2 <= 4. So the nearest term is looked at
// first; its cost gives a distance beyond which nobody can be cheaper. Of those within, the leaf
// lists the ones that may beat that cost by a sharper bound, r <= 1 + c (2 rho + rho^2) with c =
// min(kappa, 3.01 kappa^2) for rho > 0 and r <= 1 for rho < 0, which the table exceeds by 1e-4 at
// most; and it is asked about these few. The choice is the same as by asking about all.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "maintenance/degradation_table.hpp"
#include "maintenance/options.hpp"
#include "model/terms.hpp"

namespace budgetsvm {

template <class T>
class PartnerSearch {
  public:
    PartnerSearch(double gamma, const MaintenanceOptions& options)
        : gamma_(gamma), options_(options) {}

    // Adds to members the partners of a, in order of cost. distances[j] = ||z_a - z_j||^2 and |rho|
    // <= rho_most for all j != a.
    void find(const Terms<T>& terms, std::int32_t a, double rho_most, const T* distances,
              std::vector<std::int32_t>& members) {
        if (terms.size < 2) return;
        if (options_.golden || options_.n_terms > 2)
            rank_all(terms, a, distances, members);
        else
            find_best(terms, a, rho_most, distances, members);
    }

    // L = gamma ||z_i - z_j||^2, kept finite.
    double scaled(double squared_distance) const {
        return std::min(gamma_ * squared_distance, 2 * merge_horizon);
    }

  private:
    static bool same_sign(const Terms<T>& terms, std::int32_t a, std::int32_t j) {
        return terms.coef[a] * terms.coef[j] >= 0;
    }

    void find_best(const Terms<T>& terms, std::int32_t a, double rho_most, const T* distances,
                   std::vector<std::int32_t>& members) {
        constexpr T never = std::numeric_limits<T>::infinity();
        std::int32_t count = terms.size - 1;
        if (a != count || options_.same_sign) {  // terms that are no candidates are infinitely far
            allowed_.assign(distances, distances + terms.size);
            allowed_[a] = never;
            if (options_.same_sign)
                for (std::int32_t j = 0; j < terms.size; ++j)
                    if (!same_sign(terms, a, j)) allowed_[j] = never;
            distances = allowed_.data();
            count = terms.size;
        }
        minima_.resize(static_cast<std::size_t>(count));
        candidates_.resize(static_cast<std::size_t>(count));
        std::int32_t best = leaf<T>().nearest(distances, count, minima_.data());
        if (distances[best] == never) return;
        double least = table_cost(terms, a, best, distances);
        const double most = (1 + rho_most) * (1 + rho_most) * least;
        const Bound<T> bound{horizon(most), narrow<T>(2 * gamma_), static_cast<T>(terms.coef[a]),
                             static_cast<T>(1.001 * least)};
        const std::int32_t found = leaf<T>().candidates(distances, terms.coef, count, bound, best,
                                                        minima_.data(), candidates_.data());
        for (std::int32_t i = 0; i < found; ++i) {
            const double cost = table_cost(terms, a, candidates_[i], distances);
            if (cost < least) least = cost, best = candidates_[i];
        }
        members.push_back(best);
    }

    // A squared distance beyond which s exceeds this.
    T horizon(double most) const {
        if (!(most < 0.99)) return std::numeric_limits<T>::infinity();
        double L = std::sqrt(0.5 * most);  // s(L) = 2 L^2 - 8/3 L^3 + ...
        L *= 1.02 + 0.67 * L;              // enough below 0.02, and nearly so beyond
        while (most > 0.02 && tangent_residual(L) < most) L *= 1.1;
        return narrow<T>(1.0001 * L / gamma_);
    }

    void rank_all(const Terms<T>& terms, std::int32_t a, const T* distances,
                  std::vector<std::int32_t>& members) {
        ranking_.clear();
        for (std::int32_t j = 0; j < terms.size; ++j)
            if (j != a && (!options_.same_sign || same_sign(terms, a, j)))
                ranking_.emplace_back(options_.golden ? golden_cost(terms, a, j, distances)
                                                      : table_cost(terms, a, j, distances),
                                      j);
        const auto wanted = std::min<std::size_t>(options_.n_terms - 1, ranking_.size());
        std::partial_sort(ranking_.begin(), ranking_.begin() + wanted, ranking_.end());
        for (std::size_t i = 0; i < wanted; ++i) members.push_back(ranking_[i].second);
    }

    double table_cost(const Terms<T>& terms, std::int32_t a, std::int32_t j,
                      const T* distances) const {
        return table_.cost(terms.coef[a] / terms.coef[j], scaled(distances[j]));
    }

    double golden_cost(const Terms<T>& terms, std::int32_t a, std::int32_t j,
                       const T* distances) const {
        const double L = scaled(distances[j]), rho = terms.coef[a] / terms.coef[j];
        return golden_merge_point(rho, L).degradation / std::max(rho * rho, 1e-300);
    }

    double gamma_;
    MaintenanceOptions options_;
    const DegradationTable& table_ = DegradationTable::instance();
    std::vector<T> allowed_, minima_;
    std::vector<std::int32_t> candidates_;
    std::vector<std::pair<double, std::int32_t>> ranking_;
};

}  // namespace budgetsvm
