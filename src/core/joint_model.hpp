// SPDX-License-Identifier: BSD-3-Clause
// A model with several outputs under a budget: what the solvers of joint.hpp do to it.
#pragma once

#include "joint_merge.hpp"
#include "project.hpp"
#include "tally.hpp"

namespace budgetsvm {

enum class Reduction { merge, project, remove };

struct JointMaintenance {
    Reduction reduction;
    MergeOptions options;  // of merging
};

template <class T>
class JointModel {
  public:
    JointModel(const Kernel& kernel, Terms<T>& terms, double* rows, double* bias,
               std::int32_t outputs, std::int32_t budget, JointMaintenance maintenance)
        : kernel_(kernel),
          model_{terms, rows, outputs},
          bias_(bias),
          budget_(budget),
          invisible_(kernel.translation_invariant() ? 1e-8 : 0.0),
          reduction_(maintenance.reduction),
          merge_(kernel.gamma, maintenance.options),
          project_(kernel, terms),
          pairs_(static_cast<std::size_t>(padded(terms.capacity, lanes<T>))),
          values_(pairs_.size()),
          f_(static_cast<std::size_t>(outputs)) {}

    // f(x) for all outputs.
    const double* evaluate(Row<T> x, T norm) {
        const Terms<T>& terms = model_.terms;
        std::fill(f_.begin(), f_.end(), 0.0);
        if (terms.size > 0) {
            kernel_.pairs(x, norm, terms, pairs_.data());
            kernel_.of_pairs(pairs_.data(), terms.size, values_.data());
        }
        for (std::int32_t j = 0; j < terms.size; ++j) {
            const double value = values_[j];
            if (std::fabs(value) < invisible_) continue;
            const double* beta = model_.row(j);
            for (std::int32_t c = 0; c < model_.outputs; ++c) f_[c] += value * beta[c];
        }
        if (bias_)
            for (std::int32_t c = 0; c < model_.outputs; ++c) f_[c] += bias_[c];
        return f_.data();
    }

    // Add a term at the point that was evaluated last. Returns the degradation.
    double insert(Row<T> x, T norm, const double* row, Tally& tally) {
        ++tally.steps;
        if (bias_)
            for (std::int32_t c = 0; c < model_.outputs; ++c) bias_[c] += row[c];
        model_.append(x, norm, row);
        if (model_.terms.size <= budget_) return 0;
        ++tally.merges;
        const double inserted = model_.terms.coef[model_.terms.size - 1];
        const double degradation = reduce(true);
        tally.lost += degradation / (inserted * inserted);
        return degradation;
    }

    // Run budget maintenance once. Returns the degradation. Whether the last term is the point that
    // was evaluated last: its distances are at hand then.
    double reduce(bool evaluated) {
        const std::int32_t a = leaf<T>().smallest(model_.terms.coef, model_.terms.size);
        switch (reduction_) {
            case Reduction::merge:
                return merge_.reduce(model_, a, distances_of(a, evaluated));
            case Reduction::project:
                return project(a);
            case Reduction::remove:
                break;
        }
        return remove(a);
    }

  private:
    const T* distances_of(std::int32_t a, bool evaluated) {
        const Terms<T>& terms = model_.terms;
        if (evaluated && a == terms.size - 1) return pairs_.data();
        point_.resize(static_cast<std::size_t>(terms.features));
        terms.copy_point(a, point_.data());
        kernel_.pairs(Row<T>{point_.data(), nullptr, terms.features}, terms.norms[a], terms,
                      pairs_.data());
        return pairs_.data();
    }

    double project(std::int32_t a) {
        const double size = model_.terms.coef[a];
        std::copy(model_.row(a), model_.row(a) + model_.outputs, f_.begin());
        const double residual = project_.distribute(
            model_.terms, a,
            [&](std::int32_t j, double share) { model_.add(j, share, f_.data()); });
        model_.remove(a);
        return size * size * residual;
    }

    double remove(std::int32_t a) {
        const double size = model_.terms.coef[a];
        const double degradation = size * size * kernel_.self(model_.terms, a);
        model_.remove(a);
        return degradation;
    }

    const Kernel& kernel_;
    JointTerms<T> model_;
    double* bias_;  // (outputs), or null
    std::int32_t budget_;
    // Terms that a point hardly sees need not be asked: k outputs cost more than a kernel value.
    // Where those are no more than 1, that is.
    double invisible_;
    Reduction reduction_;
    JointMerge<T> merge_;
    Project<T> project_;
    std::vector<T> pairs_, values_, point_;
    std::vector<double> f_;
};

}  // namespace budgetsvm
