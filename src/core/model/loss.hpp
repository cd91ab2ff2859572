// SPDX-License-Identifier: BSD-3-Clause
// One of the losses of losses.hpp, chosen at run time. What each function is, is said there.
#pragma once

#include <string_view>

#include "model/losses.hpp"

namespace budgetsvm {

class Loss {
  public:
    // Returns false if there is no loss of this name.
    bool choose(std::string_view name, const LossParameters& parameters) {
        return make(Losses{}, name, parameters, loss_);
    }

    // Calls use(loss) with the loss itself: for a loop that is compiled for each of them.
    template <class Use>
    auto visit(Use use) const {
        return std::visit(use, loss_);
    }

    bool couples_classes() const {
        return visit([](const auto& loss) { return loss.couples_classes; });
    }
    double value(double u) const {
        return visit([=](const auto& loss) { return loss.value(u); });
    }
    double bounded_slope(double u, double stiffness) const {
        return visit([=](const auto& loss) { return loss.bounded_slope(u, stiffness); });
    }
    bool violated(double u) const {
        return visit([=](const auto& loss) { return loss.violated(u); });
    }
    bool mistaken(double target, double u) const {
        return visit([=](const auto& loss) { return loss.mistaken(target, u); });
    }
    double step(double alpha, double u, double curvature, double C) const {
        return visit([=](const auto& loss) { return loss.step(alpha, u, curvature, C); });
    }

  private:
    Losses::Any loss_{std::in_place_index<0>, LossParameters{0}};
};

}  // namespace budgetsvm
