// SPDX-License-Identifier: BSD-3-Clause
// What is needed to evaluate points against some panels of terms each: which ones, extents around
// panels tell, k(x, z) = exp(-gamma d(x, z)) <= exp(-gamma d(x, extent)) for all terms z in it.
#pragma once

#include <algorithm>
#include <vector>

#include "leaf/leaf.hpp"

namespace budgetsvm {

// A radial kernel: its loops, and gamma.
template <class T>
struct RadialLoops {
    const Radial<T>* loops;
    T gamma;
};

// The terms of panel p alone.
template <class T>
Panels<T> one_panel(const Panels<T>& all, std::int32_t p) {
    const std::int32_t rest = all.size - p * lanes<T>;
    return {all.panel(p), all.norms + p * lanes<T>, all.features,
            rest < lanes<T> ? rest : lanes<T>};
}

// Some of a block's points, next to each other.
template <class T>
class Gathered {
  public:
    explicit Gathered(std::int32_t most) : rows_(most), norms_(most) {}

    Points<T> take(const Points<T>& all, const std::int32_t* which, std::int32_t count) {
        for (std::int32_t i = 0; i < count; ++i) {
            rows_[i] = all.rows[which[i]];
            norms_[i] = all.norms[which[i]];
        }
        return {rows_.data(), norms_.data(), count};
    }

  private:
    std::vector<Row<T>> rows_;
    std::vector<T> norms_;
};

// For every panel, the points that are to be evaluated against it.
class PanelLists {
  public:
    PanelLists(std::int32_t panels, std::int32_t most)
        : most_(most), counts_(panels), points_(static_cast<std::size_t>(panels) * most) {}

    void clear() { std::fill(counts_.begin(), counts_.end(), 0); }
    void add(std::int32_t panel, std::int32_t point) {
        points_[static_cast<std::size_t>(panel) * most_ + counts_[panel]++] = point;
    }
    std::int32_t count(std::int32_t panel) const { return counts_[panel]; }
    const std::int32_t* points(std::int32_t panel) const {
        return points_.data() + static_cast<std::size_t>(panel) * most_;
    }

  private:
    std::int32_t most_;
    std::vector<std::int32_t> counts_, points_;
};

}  // namespace budgetsvm
