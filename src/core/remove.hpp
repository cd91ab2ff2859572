// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by removal: drop the term with the smallest |beta|. Works with any kernel.
#pragma once

#include "kernel.hpp"

namespace budgetsvm {

template <class T>
class Remove {
  public:
    explicit Remove(const Kernel& kernel) : kernel_(kernel) {}

    // Returns the degradation ||beta_a phi(z_a)||^2.
    double reduce(Terms<T>& terms) {
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        const double beta = terms.coef[a];
        const double degradation = beta * beta * kernel_.self(terms, a);
        terms.remove(a);
        return degradation;
    }

  private:
    const Kernel& kernel_;
};

}  // namespace budgetsvm
