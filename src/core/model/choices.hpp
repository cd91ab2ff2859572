// SPDX-License-Identifier: BSD-3-Clause
// Lists of classes to choose from by name: the losses, the kernels, the strategies of maintenance.
// A class on such a list has a static `name`, as the Python side calls it.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

namespace budgetsvm {

template <class... Each>
struct Choices {
    using Any = std::variant<Each...>;  // an object of one of them
};

template <class Choice>
struct Type {
    using type = Choice;
};

// Calls use(Type<Choice>{}) for the choice of this name. Returns false if there is none.
template <class... Each, class Use>
bool choose(Choices<Each...>, std::string_view name, Use use) {
    return ((name == Each::name && (use(Type<Each>{}), true)) || ...);
}

// The object of that name, made of its parameters. Returns false if there is none.
template <class... Each, class Parameters>
bool make(Choices<Each...> choices, std::string_view name, const Parameters& parameters,
          std::variant<Each...>& made) {
    return choose(choices, name, [&](auto type) {
        made.template emplace<typename decltype(type)::type>(parameters);
    });
}

}  // namespace budgetsvm
