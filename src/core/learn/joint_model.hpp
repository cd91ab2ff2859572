// SPDX-License-Identifier: BSD-3-Clause
// A model with several outputs under a budget: what joint_solve.hpp does to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "evaluate/passes.hpp"
#include "learn/tally.hpp"
#include "model/joint_terms.hpp"
#include "model/kernel.hpp"

namespace budgetsvm {

template <class T, class Maintenance>
class JointModel {
  public:
    JointModel(const Kernel& kernel, const JointTerms<T>& terms, double* bias, std::int32_t budget,
               Maintenance& maintenance)
        : kernel_(kernel),
          model_(terms),
          bias_(bias),
          budget_(budget),
          maintenance_(maintenance),
          invisible_(kernel.translation_invariant() ? 1e-8 : 0.0),
          pairs_(static_cast<std::size_t>(padded(terms.terms.capacity, lanes<T>))),
          values_(pairs_.size()),
          f_(static_cast<std::size_t>(terms.outputs)) {}

    // f(x) for all outputs.
    const double* evaluate(Row<T> x, T norm) {
        const Terms<T>& terms = model_.terms;
        std::fill(f_.begin(), f_.end(), 0.0);
        if (terms.size > 0) {
            kernel_.pairs(x, norm, terms, pairs_.data());
            kernel_.of_pairs(pairs_.data(), terms.size, values_.data());
        }
        visible_.clear(), weights_.clear();
        for (std::int32_t j = 0; j < terms.size; ++j) {
            const double value = values_[j];
            if (std::fabs(value) < invisible_) continue;
            visible_.push_back(j), weights_.push_back(value);
        }
        const auto count = static_cast<std::int64_t>(visible_.size());
        const ChosenRows<double> rows{model_.rows, visible_.data(), count, model_.outputs};
        add_transposed_times(rows, weights_.data(), f_.data());
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
        const double degradation = maintenance_.reduce(model_, pairs_.data());
        tally.lost += degradation / (inserted * inserted);
        return degradation;
    }

  private:
    const Kernel& kernel_;
    JointTerms<T> model_;
    double* bias_;  // (outputs), or null
    std::int32_t budget_;
    Maintenance& maintenance_;
    // Terms that a point hardly sees need not be asked: k outputs cost more than a kernel value.
    // Where those are no more than 1, that is.
    double invisible_;
    std::vector<T> pairs_;  // of the point that was evaluated last
    std::vector<T> values_;
    std::vector<std::int64_t> visible_;  // terms that it sees, and their kernel values
    std::vector<double> weights_, f_;
};

}  // namespace budgetsvm
