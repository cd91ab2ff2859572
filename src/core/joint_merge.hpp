// SPDX-License-Identifier: BSD-3-Clause
// Terms with a row of coefficients each, and merging two of them (Gaussian kernel only).
//
// With rows beta_a and beta_b, z = h z_a + (1 - h) z_b and E_a = k(z_a, z), E_b = k(z_b, z), the
// best row is beta = E_a beta_a + E_b beta_b, and the best h maximises its norm. In terms of the
// ratio of norms rho = |beta_a| / |beta_b| <= 1 and the cosine t between the rows, the degradation
// is
//     |beta_b|^2 (rho^2 (1 - E_a^2) + (1 - E_b^2) + 2 t rho (kappa - E_a E_b)),
// and its derivative vanishes where, L = -ln kappa = gamma |z_a - z_b|^2,
//     h / (1 - h) = q (q + t) / (1 + t q),   q = rho E_a / E_b = rho exp(-L (1 - 2 h)).
// t = 1 and t = -1 are the two cases of merge_point.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "merge_point.hpp"
#include "terms.hpp"

namespace budgetsvm {

// terms.coef has the norms of the rows.
template <class T>
struct JointTerms {
    Terms<T>& terms;
    double* rows;  // (capacity, outputs)
    std::int32_t outputs;

    double* row(std::int32_t j) const { return rows + static_cast<std::int64_t>(j) * outputs; }

    double product(std::int32_t a, std::int32_t b) const {
        const double *x = row(a), *y = row(b);
        double sum = 0;
        for (std::int32_t c = 0; c < outputs; ++c) sum += x[c] * y[c];
        return sum;
    }

    void append(Row<T> x, T norm, const double* beta) {
        const std::int32_t j = terms.size;
        terms.append(norm, 0);
        terms.place(j, x);
        std::copy(beta, beta + outputs, row(j));
        measure(j);
    }

    // beta_j += share * beta
    void add(std::int32_t j, double share, const double* beta) {
        double* own = row(j);
        for (std::int32_t c = 0; c < outputs; ++c) own[c] += share * beta[c];
        measure(j);
    }

    void remove(std::int32_t j) {
        const std::int32_t last = terms.size - 1;
        if (j != last) std::copy(row(last), row(last) + outputs, row(j));
        terms.remove(j);
    }

    void measure(std::int32_t j) { terms.coef[j] = std::sqrt(product(j, j)); }
};

// The best place for two rows, as for two numbers: merge_point.hpp.
struct JointPoint {
    double h, degradation;  // in units of |beta_b|^2
};

inline double joint_degradation(double rho, double t, double L, double h) {
    const double a = exp_less_one(-L * (1 - h) * (1 - h)), b = exp_less_one(-L * h * h);
    const double cross = -std::exp(-L) * exp_less_one(2 * L * h * (1 - h));
    return std::max(0.0, -rho * rho * a * (2 + a) - b * (2 + b) + 2 * t * rho * cross);
}

// The fixed point of h -> g(h) = q (q + t) / (1 + 2 t q + q^2) next to the heavier end: one iterate
// from h = 0, then Newton's method. Where g rises too fast for that it counts as less steep, and h
// creeps up to the fixed point without passing it.
inline JointPoint joint_merge_point(double rho, double t, double L, int iterations) {
    constexpr double steepest = 0.8;
    if (nothing_to_search(L))
        return {0, joint_degradation(rho, t, std::min(L, 2 * merge_horizon), 0)};
    const double reach = 1 / std::sqrt(2 * L);
    double h = 0;
    for (int i = 0; i < iterations; ++i) {
        const double q = rho * std::exp(-L * (1 - 2 * h));
        const double norm = std::max((1 - q) * (1 - q) + 2 * q * (1 + t), 1e-12);
        const double slope = 2 * L * q * (t * (1 + q * q) + 2 * q) / (norm * norm);
        const double missing = std::clamp(q * (q + t) / norm, -reach, 0.5) - h;
        const double step = i == 0 ? missing : missing / (1 - std::min(slope, steepest));
        h = std::clamp(h + step, -reach, 0.5);
        if (std::fabs(step) < 1e-7) break;
    }
    const double found = joint_degradation(rho, t, L, h), still = joint_degradation(rho, t, L, 0);
    return found < still ? JointPoint{h, found} : JointPoint{0, still};
}

template <class T>
class JointMerge {
  public:
    explicit JointMerge(double gamma) : gamma_(gamma) {}

    // Merge term a, whose squared distances to all terms are given, with the partner that costs the
    // least. Returns the degradation.
    double reduce(JointTerms<T>& model, std::int32_t a, const T* distances) {
        const Terms<T>& terms = model.terms;
        const double size = terms.coef[a];
        const std::int32_t b = size > 0 ? partner(model, a, distances) : -1;
        if (b < 0) {
            model.remove(a);
            return size * size;
        }
        const double heavy = terms.coef[b], L = scaled(distances[b]);
        const JointPoint merged =
            joint_merge_point(size / heavy, cosine(model, a, b), L, precise_iterations);
        place(model, a, b, merged.h, L);
        return heavy * heavy * merged.degradation;
    }

  private:
    // The nearest terms are candidates: the degradation grows with the distance, and only where
    // rows point to opposite directions may another one be better.
    static constexpr std::int32_t candidates = 16;
    static constexpr int rough_iterations = 4, precise_iterations = 40;

    double scaled(double squared) const { return std::min(gamma_ * squared, 2 * merge_horizon); }

    static double cosine(const JointTerms<T>& model, std::int32_t a, std::int32_t b) {
        const double norms = model.terms.coef[a] * model.terms.coef[b];
        return norms > 0 ? std::clamp(model.product(a, b) / norms, -1.0, 1.0) : 0.0;
    }

    std::int32_t partner(const JointTerms<T>& model, std::int32_t a, const T* distances) {
        nearest_.clear();
        for (std::int32_t j = 0; j < model.terms.size; ++j)
            if (j != a && model.terms.coef[j] > 0) nearest_.emplace_back(distances[j], j);
        const auto count = std::min<std::size_t>(candidates, nearest_.size());
        std::partial_sort(nearest_.begin(), nearest_.begin() + count, nearest_.end());
        std::int32_t best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t j = nearest_[i].second;
            const double heavy = model.terms.coef[j];
            const double cost = heavy * heavy *
                                joint_merge_point(model.terms.coef[a] / heavy, cosine(model, a, j),
                                                  scaled(distances[j]), rough_iterations)
                                    .degradation;
            if (cost < least) least = cost, best = j;
        }
        return best;
    }

    // Term b becomes h a + (1 - h) b; a is removed.
    void place(JointTerms<T>& model, std::int32_t a, std::int32_t b, double h, double L) {
        Terms<T>& terms = model.terms;
        const double of_a = std::exp(-L * (1 - h) * (1 - h)), of_b = std::exp(-L * h * h);
        double* beta = model.row(b);
        for (std::int32_t c = 0; c < model.outputs; ++c)
            beta[c] = of_b * beta[c] + of_a * model.row(a)[c];
        const T share = static_cast<T>(h), rest = static_cast<T>(1 - h);
        const T* from = terms.z(a);
        T* to = terms.z(b);
        double norm = 0;
        for (std::int32_t k = 0; k < terms.features; ++k) {
            T& value = to[k * lanes<T>];
            value = share * from[k * lanes<T>] + rest * value;
            norm += static_cast<double>(value) * value;
        }
        terms.norms[b] = static_cast<T>(norm);
        model.measure(b);
        model.remove(a);
    }

    double gamma_;
    std::vector<std::pair<T, std::int32_t>> nearest_;
};

}  // namespace budgetsvm
