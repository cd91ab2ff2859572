// SPDX-License-Identifier: BSD-3-Clause
// One of the kernels of kernels.hpp, chosen at run time. What each function is, is said in
// kernel_families.hpp.
#pragma once

#include <string_view>

#include "model/kernels.hpp"

namespace budgetsvm {

class Kernel {
  public:
    // Returns false if there is no kernel of this name.
    bool choose(std::string_view name, const KernelParameters& parameters) {
        return make(Kernels{}, name, parameters, kernel_);
    }

    // Calls use(kernel) with the kernel itself.
    template <class Use>
    auto visit(Use use) const {
        return std::visit(use, kernel_);
    }

    // The kernel itself, for what works with this one alone; null if it is another.
    template <class One>
    const One* as() const {
        return std::get_if<One>(&kernel_);
    }

    // k(x + c, z + c) = k(x, z), and no value exceeds k(x, x) = 1.
    bool translation_invariant() const {
        return visit([](const auto& kernel) { return kernel.translation_invariant; });
    }

    // Whether it compares points with the terms, where they are, and with nothing else.
    bool sees_only_terms() const {
        return visit([](const auto& kernel) { return kernel.sees_only_terms; });
    }

    template <class T>
    T norm(Row<T> x) const {
        return visit([&](const auto& kernel) { return kernel.norm(x); });
    }

    template <class T>
    T entry_of_norm(T norm) const {
        return visit([&](const auto& kernel) { return kernel.entry_of_norm(norm); });
    }

    template <class T>
    void values(Points<T> x, const Terms<T>& terms, Out<T> out) const {
        visit([&](const auto& kernel) { kernel.values(x, terms, out); });
    }

    template <class T>
    void evaluate(Points<T> x, const Terms<T>& terms, Out<T> kept, double* sums) const {
        if (terms.size == 0) return;
        visit([&](const auto& kernel) { kernel.evaluate(x, terms, kept, sums); });
    }

    template <class T>
    void pairs(Row<T> x, T x_norm, const Terms<T>& terms, T* kept) const {
        visit([&](const auto& kernel) { kernel.pairs(x, x_norm, terms, kept); });
    }

    template <class T>
    T pair(Row<T> x, T x_norm, const SpreadRow<T>& z, T z_norm) const {
        return visit([&](const auto& kernel) { return kernel.pair(x, x_norm, z, z_norm); });
    }

    template <class T>
    void of_pairs(const T* kept, std::int32_t count, T* out) const {
        visit([&](const auto& kernel) { kernel.of_pairs(kept, count, out); });
    }

    template <class T>
    double sum_of_pairs(const T* kept, const double* weights, std::int32_t count) const {
        return visit([&](const auto& kernel) { return kernel.sum_of_pairs(kept, weights, count); });
    }

    template <class T>
    void exact_row(const Terms<T>& terms, std::int32_t a, double* out) const {
        visit([&](const auto& kernel) { kernel.exact_row(terms, a, out); });
    }

    template <class T>
    double self(const Terms<T>& terms, std::int32_t j) const {
        return visit([&](const auto& kernel) { return kernel.self(terms, j); });
    }

  private:
    Kernels::Any kernel_{std::in_place_index<0>, KernelParameters{}};
};

}  // namespace budgetsvm
