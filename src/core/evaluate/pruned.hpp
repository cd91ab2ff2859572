// SPDX-License-Identifier: BSD-3-Clause
// f(x) = sum_j beta_j k(x, z_j) without the panels of terms that cannot count. Extents say of a
// panel
//     sum over its terms of |beta_j| k(x, z_j) <= exp(-v),   v = e - ln(sum |beta_j|),
// e being at most gamma times the distance of x to the extent. The panel with the least v comes
// first; s is the sum of its |beta_j| k(x, z_j). Kernel values of this precision have a relative
// error of about r = u max(1, gamma |x|), where u is the unit roundoff, and |x| the norm that
// distances are made of, and so f(x) has one of r s or more. What is left out is less than that:
//     panels with exp(-v) <= r s / 2n, n being the number of panels,
//     and up to 8 more, if there are no more, with exp(-v) <= r s / 16.
// All is relative to what the point has, as far from the terms small values decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "evaluate/bounds.hpp"
#include "model/terms.hpp"

namespace budgetsvm {

template <class T>
class PrunedSums {
  public:
    static constexpr std::int32_t most_points = 256;  // at once: a panel has work for some of them

    PrunedSums(const RadialLoops<T>& kernel, const Terms<T>& terms, const Extents<T>& extents)
        : kernel_(kernel),
          terms_(terms),
          extents_(extents),
          sizes_(static_cast<std::size_t>(terms.size)),
          bounds_(static_cast<std::size_t>(most_points) * extents.padded_count()),
          values_(static_cast<std::size_t>(most_points) * lanes<T>),
          found_(static_cast<std::size_t>(extents.padded_count())),
          gathered_(most_points),
          lists_(extents.padded_count(), most_points) {
        for (std::int32_t j = 0; j < terms.size; ++j) sizes_[j] = std::fabs(terms.coef[j]);
        farthest_ = -std::numeric_limits<T>::max();
        for (std::int32_t p = 0; p < extents.count; ++p)
            if (std::isfinite(extents.weights[p]))
                farthest_ = std::max(farthest_, lowest - extents.weights[p]);
            else if (std::isnan(extents.weights[p]))
                farthest_ = std::numeric_limits<T>::max();
        log_ratio_ = static_cast<T>(std::log(std::max(1.0, extents.count / double(few))));
    }

    // out[i] = f(x_i)
    void evaluate(Points<T> x, double* out) {
        kernel_.loops->to_extents(x, extents_, kernel_.gamma, bounds_.data());
        first_panels(x, out);
        lists_.clear();
        for (std::int32_t i = 0; i < x.count; ++i) list_panels(i, x.norms[i]);
        double sums[most_points];
        for (std::int32_t p = 0; p < extents_.count; ++p) {
            const std::int32_t count = lists_.count(p), *which = lists_.points(p);
            if (count == 0) continue;
            std::fill(sums, sums + count, 0.0);
            kernel_.loops->sums(gathered_.take(x, which, count), one_panel(terms_.view(), p),
                                kernel_.gamma, Out<T>{}, terms_.coef + p * lanes<T>, sums);
            for (std::int32_t i = 0; i < count; ++i) out[which[i]] += sums[i];
        }
    }

  private:
    static constexpr std::int32_t few = 8;
    // exp of less than minus this is 0 (leaf/exp.hpp).
    static constexpr T lowest = std::numeric_limits<T>::digits == 24 ? T(87.5) : T(708.5);

    const T* bounds(std::int32_t i) const {
        return bounds_.data() + static_cast<std::size_t>(i) * extents_.padded_count();
    }

    // Every point's panel with the largest bound.
    void first_panels(Points<T> x, double* out) {
        lists_.clear();
        for (std::int32_t i = 0; i < x.count; ++i) {
            first_[i] = leaf<T>().nearest(bounds(i), extents_.count, nullptr);
            lists_.add(first_[i], i);
        }
        for (std::int32_t p = 0; p < extents_.count; ++p) {
            const std::int32_t count = lists_.count(p), *which = lists_.points(p);
            if (count == 0) continue;
            const Panels<T> panel = one_panel(terms_.view(), p);
            kernel_.loops->kernel(gathered_.take(x, which, count), panel, kernel_.gamma,
                                  Out<T>{values_.data(), lanes<T>, panel.size});
            for (std::int32_t i = 0; i < count; ++i) {
                const T* row = values_.data() + i * lanes<T>;
                out[which[i]] = leaf<T>().sum(terms_.coef + p * lanes<T>, row, panel.size);
                size_[which[i]] = leaf<T>().sum(sizes_.data() + p * lanes<T>, row, panel.size);
            }
        }
    }

    // The others that count.
    void list_panels(std::int32_t i, T norm) {
        constexpr double roundoff = std::numeric_limits<T>::epsilon() / 2;
        const double left_out =
            roundoff * std::max(1.0, static_cast<double>(kernel_.gamma) * norm) * size_[i];
        // Where s is 0, all that is not 0 counts.
        const T enough =
                    std::min(static_cast<T>(-std::log(left_out / (2 * extents_.count))), farthest_),
                maybe = enough - log_ratio_;
        const T* v = bounds(i);
        const std::int32_t n = leaf<T>().below(v, extents_.padded_count(), enough, found_.data());
        std::int32_t between = 0;
        for (std::int32_t k = 0; k < n; ++k) between += v[found_[k]] >= maybe;
        const T limit = between <= few ? maybe : enough;
        for (std::int32_t k = 0; k < n; ++k) {
            const std::int32_t p = found_[k];
            if (v[p] < limit && p != first_[i] && p < extents_.count) lists_.add(p, i);
        }
    }

    const RadialLoops<T> kernel_;
    const Terms<T> terms_;
    const Extents<T> extents_;
    std::vector<double> sizes_;  // |beta_j|
    std::vector<T> bounds_, values_;
    std::vector<std::int32_t> found_;
    Gathered<T> gathered_;
    PanelLists lists_;
    T farthest_;   // v from which on all values are 0
    T log_ratio_;  // ln(n / 8)
    std::int32_t first_[most_points];
    double size_[most_points];  // s
};

}  // namespace budgetsvm
