// SPDX-License-Identifier: BSD-3-Clause
// The options of all strategies, each of which takes those that are its own.
#pragma once

namespace budgetsvm {

struct MaintenanceOptions {
    // Of merging.
    bool golden;     // golden section for every candidate (the paper), instead of the table
    bool same_sign;  // partners with a coefficient of the same sign only (the paper)
    int n_terms;     // M: how many terms become one
};

}  // namespace budgetsvm
