// SPDX-License-Identifier: BSD-3-Clause
// The arguments of budget maintenance.
#pragma once

#include "bindings/arguments.hpp"
#include "maintenance/strategies.hpp"

namespace budgetsvm {

using MaintenanceArg = std::tuple<std::string, bool, bool, int>;

// Calls action(Type<Strategy>{}, options) with the strategy asked for, and returns what it does.
template <class T, class Action>
auto with_maintenance(const MaintenanceArg& arg, const Kernel& kernel, Action action) {
    using Result = decltype(action(Type<Remove<T>>{}, MaintenanceOptions{}));
    const auto& [name, golden, same_sign, n_terms] = arg;
    require(n_terms >= 2, "two terms at least are merged");
    const MaintenanceOptions options{golden, same_sign, n_terms};
    Result result{};
    const bool known = choose(Strategies<T>{}, name, [&](auto type) {
        const char* objection = decltype(type)::type::objection(kernel);
        require(!objection, objection);
        result = action(type, options);
    });
    require(known, "unknown maintenance");
    return result;
}

}  // namespace budgetsvm
