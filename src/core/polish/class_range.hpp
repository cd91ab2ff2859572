// SPDX-License-Identifier: BSD-3-Clause
// The rows of a class, which follow each other.
#pragma once

#include <cstdint>

namespace budgetsvm {

struct ClassRange {
    std::int64_t begin, end;

    std::int64_t size() const { return end - begin; }
};

}  // namespace budgetsvm
