// SPDX-License-Identifier: BSD-3-Clause
// How terms are merged, of one output or several.
#pragma once

namespace budgetsvm {

struct MergeOptions {
    bool golden;     // golden section for every candidate (the paper), instead of the table
    bool same_sign;  // partners with a coefficient of the same sign only (the paper)
    int n_terms;     // M: how many terms become one
};

}  // namespace budgetsvm
