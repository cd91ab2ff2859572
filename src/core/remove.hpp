// SPDX-License-Identifier: BSD-3-Clause
// Budget maintenance by removal: drop the term with the smallest |beta|. Works with any kernel.
#pragma once

#include "kernel.hpp"

namespace budgetsvm {

template <class T>
class Remove {
  public:
    Remove(const Kernel& kernel, Scratch<T>& scratch) : kernel_(kernel), scratch_(scratch) {}

    // Returns the degradation ||beta_a phi(z_a)||^2.
    double reduce(Terms<T>& terms) {
        const std::int32_t a = leaf<T>().smallest(terms.coef, terms.size);
        const double beta = terms.coef[a];
        const double degradation = beta * beta * kernel_.self(terms, a, scratch_);
        terms.remove(a);
        return degradation;
    }

  private:
    const Kernel& kernel_;
    Scratch<T>& scratch_;
};

}  // namespace budgetsvm
