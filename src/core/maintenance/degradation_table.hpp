// SPDX-License-Identifier: BSD-3-Clause
// The degradation of the best merge, tabulated over (rho, kappa) in [-1, 1] x [0, 1].
//
// As rho -> 0 the degradation tends to beta_a^2 s with s = 1 - kappa^2 (1 - 2 ln kappa): the part
// of term a outside the tangent space at z_b. The table holds the ratio
//     r(rho, kappa) = beta_a^2 s / degradation,
// which is smooth and bounded, 0 <= r <= (1 + max(0, rho))^2, so that a small table with bilinear
// interpolation is accurate *relative* to the degradation, near kappa = 1 too. A table of h would
// not do: at rho = 1, h jumps where kappa crosses exp(-2).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "maintenance/merge_point.hpp"

namespace budgetsvm {

// 1 - exp(-x) (1 + x), x = 2L, without cancellation for small x. kappa = exp(-L)
inline double tangent_residual(double L, double kappa) {
    const double x = 2 * std::min(L, merge_horizon);
    if (x > 0.05) return 1 - kappa * kappa * (1 + x);
    return x * x * (0.5 - x * (1.0 / 3 - x * (1.0 / 8 - x * (1.0 / 30 - x * (1.0 / 144)))));
}

inline double tangent_residual(double L) { return tangent_residual(L, std::exp(-L)); }

class DegradationTable {
  public:
    static constexpr int nodes = 257;

    // Built at first use, once per process: some milliseconds.
    static const DegradationTable& instance() {
        static const DegradationTable table;
        return table;
    }

    // r(rho, kappa) by bilinear interpolation; arguments are clamped to the square.
    double ratio(double rho, double kappa) const {
        const Cell row = locate(0.5 * (rho + 1)), column = locate(kappa);
        const float* low = values_.data() + row.index * nodes + column.index;
        const float* high = low + nodes;
        const double at_low = low[0] + column.weight * (low[1] - low[0]);
        const double at_high = high[0] + column.weight * (high[1] - high[0]);
        return at_low + row.weight * (at_high - at_low);
    }

    // The degradation in units of beta_a^2. Merging at h = 0 bounds it by 1 - kappa^2, which is
    // also what counts where r vanishes: exactly opposite terms on one point cancel.
    double cost(double rho, double L) const {
        const double fall = exp_less_one(-L), kappa = 1 + fall, most = -fall * (2 + fall);
        return std::min(most, tangent_residual(L, kappa) / ratio(rho, kappa));
    }

    static double exact_ratio(double rho, double kappa) {
        if (rho == 0 || kappa <= 0) return 1;
        if (kappa >= 1) return (1 + rho) * (1 + rho);
        const double L = -std::log(kappa);
        return rho * rho * tangent_residual(L) / newton_merge_point(rho, L).degradation;
    }

  private:
    struct Cell {
        int index;
        double weight;
    };

    static Cell locate(double position) {
        // Written so that NaN, too, finds a cell.
        const double scaled = position > 0 ? std::min(position, 1.0) * (nodes - 1) : 0.0;
        const int index = std::min(static_cast<int>(scaled), nodes - 2);
        return {index, scaled - index};
    }

    DegradationTable() : values_(nodes * nodes) {
        for (int i = 0; i < nodes; ++i)
            for (int j = 0; j < nodes; ++j)
                values_[i * nodes + j] = static_cast<float>(
                    exact_ratio(2.0 * i / (nodes - 1) - 1, static_cast<double>(j) / (nodes - 1)));
    }

    std::vector<float> values_;  // single precision: half the cache, and far more exact than needed
};

}  // namespace budgetsvm
