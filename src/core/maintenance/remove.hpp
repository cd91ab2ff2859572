// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by removal: drop the term with the smallest |beta|. Works with any kernel. The
// degradation is ||beta_a phi(z_a)||^2.
#pragma once

#include "evaluate/batch.hpp"
#include "maintenance/options.hpp"
#include "model/joint_terms.hpp"

namespace budgetsvm {

template <class T>
class Remove {
  public:
    static constexpr const char* name = "remove";
    static const char* objection(const Kernel&) { return nullptr; }
    using Joint = Remove;

    Remove(const Kernel& kernel, const Terms<T>&, const MaintenanceOptions&) : kernel_(kernel) {}

    double reduce(Terms<T>& terms, Batch<T>& batch) {
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        if (kernel_.sees_only_terms()) batch.place_pending(terms);
        const double lost = degradation(terms, a);
        batch.remove(terms, a);
        return lost;
    }

    double reduce(JointTerms<T>& model, const T*) {
        const std::int32_t a = leaf<T>().smallest(model.terms.coef, model.terms.size);
        const double lost = degradation(model.terms, a);
        model.remove(a);
        return lost;
    }

  private:
    double degradation(const Terms<T>& terms, std::int32_t a) const {
        const double beta = terms.coef[a];
        return beta * beta * kernel_.self(terms, a);
    }

    const Kernel& kernel_;
};

}  // namespace budgetsvm
