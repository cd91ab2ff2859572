// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by removal: drop the term with the smallest |beta|. Works with any kernel.
#pragma once

#include "batch.hpp"

namespace budgetsvm {

template <class T>
class Remove {
  public:
    explicit Remove(const Kernel& kernel) : kernel_(kernel) {}

    // Returns the degradation ||beta_a phi(z_a)||^2.
    double reduce(Terms<T>& terms, Batch<T>& batch) {
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        const double beta = terms.coef[a];
        if (kernel_.kind == KernelKind::callable)
            batch.place_pending(terms);  // it looks at all terms
        const double degradation = beta * beta * kernel_.self(terms, a);
        batch.remove(terms, a);
        return degradation;
    }

  private:
    const Kernel& kernel_;
};

}  // namespace budgetsvm
