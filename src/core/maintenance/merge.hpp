// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by merging (Gaussian kernel only).
//
// The term a with the smallest |beta| is replaced, together with the M - 1 partners that cost the
// least, by one term. M = 2 is the paper's merging; M > 2 is multi-merge (Qaadan & Glasmachers
// 2018): the terms are folded pairwise into one point, cheapest partner first, so that maintenance
// runs only every M - 1 steps.
//
// Nearly always a is the new term, whose distances to all others are at hand (evaluate/batch.hpp),
// and maintenance costs O(B) for the search and O(d) for the new point. Otherwise a's distances are
// computed anew; to keep those between all terms costs more than it saves (docs/theory.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "evaluate/batch.hpp"
#include "maintenance/joint_merge.hpp"
#include "maintenance/partner.hpp"

namespace budgetsvm {

template <class T>
class Merge {
  public:
    static constexpr const char* name = "merge";
    static const char* objection(const Kernel& kernel) {
        return kernel.as<Gaussian>() ? nullptr : "merging needs the Gaussian kernel";
    }
    using Joint = JointMerge<T>;

    Merge(const Kernel& kernel, const Terms<T>& terms, const MaintenanceOptions& options)
        : kernel_(*kernel.as<Gaussian>()),
          options_(options),
          search_(kernel_.gamma, options),
          distances_(static_cast<std::size_t>(padded(terms.capacity, lanes<T>))) {}

    // Returns the degradation ||dw||^2. Nothing to merge with: the term is removed.
    double reduce(Terms<T>& terms, Batch<T>& batch) {
        const std::int32_t a = smallest(terms);
        if (!batch.pending(a)) batch.place_pending(terms);
        const double beta = terms.coef[a];
        double degradation = beta * beta;
        members_.assign(1, a);
        if (beta != 0)
            search_.find(terms, a, std::fabs(beta) / floor_, distances_of(terms, a, batch),
                         members_);
        if (members_.size() > 1)
            degradation = fold(terms, batch);
        else
            batch.remove(terms, a);
        expected_size_ = terms.size + 1;
        return degradation;
    }

  private:
    struct Folded {
        double beta, degradation;
    };

    // The term with the smallest |beta|; floor_ := a lower bound on |beta| of all others. Each
    // merge changes one coefficient, so that the bound holds on, and there is often no need to
    // look.
    std::int32_t smallest(const Terms<T>& terms) {
        const std::int32_t last = terms.size - 1;
        if (terms.size == expected_size_ && std::fabs(terms.coef[last]) < floor_ && --trusted_ > 0)
            return last;
        trusted_ = 64;
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        const double* rest[] = {terms.coef, terms.coef + a + 1};
        const std::int32_t counts[] = {a, last - a};
        floor_ = std::numeric_limits<double>::infinity();
        for (int i = 0; i < 2; ++i)
            if (counts[i] > 0)
                floor_ =
                    std::min(floor_, std::fabs(rest[i][leaf<T>().smallest(rest[i], counts[i])]));
        return a;
    }

    const T* distances_of(const Terms<T>& terms, std::int32_t a, const Batch<T>& batch) {
        if (batch.pending(a)) return batch.pairs();
        point_.take(terms, a);
        kernel_.pairs(point_.row(), terms.norms[a], terms, distances_.data());
        return distances_.data();
    }

    // Replace all members by one term. It takes the place of the first of them; the others are
    // removed from the highest index down, as removal moves the last term.
    double fold(Terms<T>& terms, Batch<T>& batch) {
        const Folded folded = place(terms, batch);
        std::sort(members_.begin(), members_.end());
        terms.place(members_[0], point_.row());
        terms.norms[members_[0]] = kernel_.norm(point_.row());
        floor_ = std::min(floor_, std::fabs(folded.beta));
        for (std::size_t i = members_.size() - 1; i > 0; --i) batch.remove(terms, members_[i]);
        return std::max(0.0, folded.degradation);
    }

    // point_ := where the members are folded to, found pair by pair.
    Folded place(Terms<T>& terms, Batch<T>& batch) {
        load_members(terms, batch);
        point_ = points_[0];
        Folded folded{betas_[0], 0};
        std::int32_t at = members_[0];
        for (std::size_t i = 1; i < members_.size(); ++i) {
            const double squared = point_.squared_distance(points_[i]);
            const bool lighter = std::fabs(folded.beta) <= std::fabs(betas_[i]);
            const double heavy = lighter ? betas_[i] : folded.beta;
            const double light = lighter ? folded.beta : betas_[i];
            const double rho = light / heavy, L = search_.scaled(squared);
            const bool fits = point_.fits(points_[i], terms.room());
            const MergePoint merged = fits ? merge_point(rho, L) : heavy_end(rho, L);
            const double share = lighter ? merged.h : 1 - merged.h;
            point_.mix(static_cast<T>(share), points_[i], static_cast<T>(1 - share));
            folded = {heavy * merged.value, heavy * heavy * merged.degradation};
            const std::int32_t first = std::min(at, members_[i]), other = std::max(at, members_[i]);
            batch.merge(terms, first, other, {first == at ? 1 - share : share, squared},
                        folded.beta);
            at = first;
        }
        if (members_.size() > 2) {
            folded = refold();
            batch.reweigh(terms, at, folded.beta);
        }
        return folded;
    }

    void load_members(const Terms<T>& terms, const Batch<T>& batch) {
        if (points_.size() < members_.size()) points_.resize(members_.size());
        betas_.clear();
        for (const std::int32_t member : members_) betas_.push_back(terms.coef[member]);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (batch.pending(members_[i]))
                points_[i].take(terms, batch.point());
            else
                points_[i].take(terms, members_[i]);
        }
    }

    MergePoint merge_point(double rho, double L) const {
        return options_.golden ? golden_merge_point(rho, L) : newton_merge_point(rho, L);
    }

    // Where the heavier of the two is: for sparse points that together have more entries than there
    // is room for. The degradation is that of the best coefficient there.
    static MergePoint heavy_end(double rho, double L) {
        return merge_point_at(rho, L, std::exp(-L), 0);
    }

    // The coefficient that is best for the point z of more than two members, beta = sum_m beta_m
    // k(z_m, z), so that dw = sum_m beta_m (phi(z_m) - k(z_m, z) phi(z)).
    Folded refold() {
        Folded folded{0, 0};
        apart_.clear();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const double beta = betas_[i];
            apart_.push_back(search_.scaled(points_[i].squared_distance(point_)));
            folded.beta += beta * std::exp(-apart_[i]);
            folded.degradation += beta * beta * -std::expm1(-2 * apart_[i]);
            for (std::size_t j = 0; j < i; ++j)
                folded.degradation +=
                    2 * beta * betas_[j] *
                    exp_difference(search_.scaled(points_[i].squared_distance(points_[j])),
                                   apart_[i] + apart_[j]);
        }
        return folded;
    }

    const Gaussian& kernel_;
    MaintenanceOptions options_;
    PartnerSearch<T> search_;
    std::vector<T> distances_;
    Point<T> point_;
    std::vector<std::int32_t> members_;  // a, then its partners in order of cost
    std::vector<Point<T>> points_;
    std::vector<double> betas_, apart_;
    std::int32_t expected_size_ = -1;  // of the next call, if nothing but one insertion happens
    double floor_ = 0;
    int trusted_ = 0;  // how often floor_ may be used before it is found anew, higher perhaps
};

}  // namespace budgetsvm
