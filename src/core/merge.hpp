// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by merging (Gaussian kernel only).
//
// The term a with the smallest |beta| is replaced, together with the M - 1 partners that cost the
// least, by one term. M = 2 is the paper's merging; M > 2 is multi-merge (Qaadan & Glasmachers
// 2018): the terms are folded pairwise into one point, cheapest partner first, so that maintenance
// runs only every M - 1 steps.
//
// Partner search. A partner's cost is its degradation in units of beta_a^2: s / r (see
// degradation_table.hpp), and s / (1 + max(0, rho))^2 is a lower bound on it that needs no table.
// All bounds are computed at once by the leaf; the table is asked only about partners whose bound
// beats the best cost so far, which are a handful. The choice is the same as by asking about all.
#pragma once

#include <algorithm>
#include <limits>

#include "degradation_table.hpp"
#include "kernel.hpp"

namespace budgetsvm {

struct MergeOptions {
    bool golden;     // golden section for every candidate (the paper), instead of the table
    bool same_sign;  // partners with a coefficient of the same sign only (the paper)
    int n_terms;     // M: how many terms become one
};

template <class T>
class Merge {
  public:
    Merge(const Kernel& kernel, MergeOptions options, Scratch<T>& scratch)
        : gamma_(kernel.gamma), kernel_(kernel), options_(options), scratch_(scratch) {}

    // Returns the degradation ||dw||^2. Nothing to merge with: the term is removed.
    double reduce(Terms<T>& terms) {
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        if (terms.coef[a] == 0) {
            terms.remove(a);
            return 0;
        }
        find_partners(terms, a);
        if (members_.size() == 1) {
            const double beta = terms.coef[a];
            terms.remove(a);
            return beta * beta;
        }
        return fold(terms);
    }

  private:
    // members_ becomes a, then its partners in order of cost.
    void find_partners(const Terms<T>& terms, std::int32_t a) {
        members_.assign(1, a);
        if (scratch_.row_of != a) {  // often it is the new term, whose kernel row is at hand
            terms.copy_point(a, scratch_.point.data());
            kernel_.row<T>({scratch_.point.data(), nullptr, terms.features}, terms.norms[a], terms,
                           scratch_);
        }
        if (options_.golden || options_.n_terms > 2)
            rank_all(terms, a);
        else
            find_best(terms, a);
    }

    bool eligible(const Terms<T>& terms, std::int32_t a, std::int32_t j) const {
        return j != a && !(options_.same_sign && terms.coef[a] * terms.coef[j] < 0);
    }

    void find_best(const Terms<T>& terms, std::int32_t a) {
        const T *distances = scratch_.distances.data(), *kappa = scratch_.kernel_row.data();
        T* bounds = scratch_.bounds.data();
        const T gamma = narrow<T>(gamma_);
        leaf<T>().merge_bounds(distances, kappa, terms.coef, terms.coef[a], gamma, terms.size,
                               bounds);
        constexpr T never = std::numeric_limits<T>::infinity();
        bounds[a] = never;
        if (options_.same_sign)
            for (std::int32_t j = 0; j < terms.size; ++j)
                if (!eligible(terms, a, j)) bounds[j] = never;
        std::int32_t best = leaf<T>().lowest(bounds, terms.size);
        if (bounds[best] == never) return;
        double least = table_cost(terms, a, best);
        bounds[best] = never;
        for (std::int32_t j = 0; j < terms.size; ++j) {
            if (!(bounds[j] < least)) continue;
            const double cost = table_cost(terms, a, j);
            if (cost < least) least = cost, best = j;
        }
        members_.push_back(best);
    }

    void rank_all(const Terms<T>& terms, std::int32_t a) {
        ranking_.clear();
        for (std::int32_t j = 0; j < terms.size; ++j)
            if (eligible(terms, a, j))
                ranking_.emplace_back(
                    options_.golden ? golden_cost(terms, a, j) : table_cost(terms, a, j), j);
        const auto wanted = std::min<std::size_t>(options_.n_terms - 1, ranking_.size());
        std::partial_sort(ranking_.begin(), ranking_.begin() + wanted, ranking_.end());
        for (std::size_t i = 0; i < wanted; ++i) members_.push_back(ranking_[i].second);
    }

    // L = gamma ||z_i - z_j||^2, kept finite.
    double scaled(double squared_distance) const {
        return std::min(gamma_ * squared_distance, 2 * merge_horizon);
    }

    double table_cost(const Terms<T>& terms, std::int32_t a, std::int32_t j) const {
        return table_.cost(terms.coef[a] / terms.coef[j], scaled(scratch_.distances[j]));
    }

    double golden_cost(const Terms<T>& terms, std::int32_t a, std::int32_t j) const {
        const double L = scaled(scratch_.distances[j]), rho = terms.coef[a] / terms.coef[j];
        return golden_merge_point(rho, L).degradation / std::max(rho * rho, 1e-300);
    }

    // Replace all members by one term. Its coefficient is the optimal one for its point z, beta =
    // sum_m beta_m k(z_m, z), so that dw = sum_m beta_m (phi(z_m) - k(z_m, z) phi(z)).
    double fold(Terms<T>& terms) {
        place(terms);
        apart_.clear();
        double beta = 0, degradation = 0;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const double beta_i = terms.coef[members_[i]];
            apart_.push_back(scaled(distance_to_point(terms, members_[i])));
            beta += beta_i * std::exp(-apart_[i]);
            degradation += beta_i * beta_i * -std::expm1(-2 * apart_[i]);
            for (std::size_t j = 0; j < i; ++j)
                degradation +=
                    2 * beta_i * terms.coef[members_[j]] *
                    exp_difference(scaled(terms.squared_distance(members_[i], members_[j])),
                                   apart_[i] + apart_[j]);
        }
        replace(terms, beta);
        return std::max(0.0, degradation);
    }

    // exp(-a) - exp(-b) without cancellation or overflow, a, b >= 0
    static double exp_difference(double a, double b) {
        return a < b ? -std::exp(-a) * std::expm1(a - b) : std::exp(-b) * std::expm1(b - a);
    }

    // scratch_.point := where the members are folded to, found pair by pair.
    void place(const Terms<T>& terms) {
        load(terms, members_[0], point_);
        double beta = terms.coef[members_[0]];
        for (std::size_t i = 1; i < members_.size(); ++i) {
            load(terms, members_[i], partner_);
            const double other = terms.coef[members_[i]];
            double squared = 0;
            for (std::size_t k = 0; k < point_.size(); ++k)
                squared += (point_[k] - partner_[k]) * (point_[k] - partner_[k]);
            const bool lighter = std::fabs(beta) <= std::fabs(other);
            const double heavy = lighter ? other : beta, light = lighter ? beta : other;
            if (heavy == 0) continue;
            const MergePoint merged = options_.golden
                                          ? golden_merge_point(light / heavy, scaled(squared))
                                          : newton_merge_point(light / heavy, scaled(squared));
            const double share = lighter ? merged.h : 1 - merged.h;
            for (std::size_t k = 0; k < point_.size(); ++k)
                point_[k] = share * point_[k] + (1 - share) * partner_[k];
            beta = heavy * merged.value;
        }
        for (std::size_t k = 0; k < point_.size(); ++k)
            scratch_.point[k] = static_cast<T>(point_[k]);
    }

    void load(const Terms<T>& terms, std::int32_t j, std::vector<double>& out) const {
        const T* column = terms.z(j);
        out.resize(terms.features);
        for (std::int32_t k = 0; k < terms.features; ++k) out[k] = column[k * lanes<T>];
    }

    double distance_to_point(const Terms<T>& terms, std::int32_t j) const {
        const T* column = terms.z(j);
        double squared = 0;
        for (std::size_t k = 0; k < point_.size(); ++k) {
            const double difference = static_cast<double>(scratch_.point[k]) - column[k * lanes<T>];
            squared += difference * difference;
        }
        return squared;
    }

    // The new term takes the first member's place; the others are removed from the highest index
    // down, as removal moves the last term.
    void replace(Terms<T>& terms, double beta) {
        const Row<T> point{scratch_.point.data(), nullptr, terms.features};
        std::sort(members_.begin(), members_.end());
        terms.set(members_.front(), point, kernel_.norm(point), beta);
        for (std::size_t i = members_.size() - 1; i > 0; --i) terms.remove(members_[i]);
    }

    double gamma_;
    const Kernel& kernel_;
    MergeOptions options_;
    Scratch<T>& scratch_;
    const DegradationTable& table_ = DegradationTable::instance();
    std::vector<std::int32_t> members_;
    std::vector<std::pair<double, std::int32_t>> ranking_;
    std::vector<double> point_, partner_, apart_;
};

}  // namespace budgetsvm
