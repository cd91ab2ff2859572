// SPDX-License-Identifier: BSD-3-Clause
// One of the losses of losses.hpp, chosen at run time.
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

    // Calls use(loss) with the loss itself, and returns what it does.
    template <class Use>
    auto visit(Use use) const {
        return std::visit(use, loss_);
    }

  private:
    Losses::Any loss_{std::in_place_index<0>, LossParameters{0}};
};

}  // namespace budgetsvm
