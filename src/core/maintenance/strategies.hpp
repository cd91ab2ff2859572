// SPDX-License-Identifier: BSD-3-Clause
// The strategies of budget maintenance; the Python side is maintenance.py. A new one has a header
// of its own, and its place in this list. It is a class template Strategy<T> with
//     name                       what the Python side calls it
//     objection(kernel)          why it does not work with this kernel; null: it does
//     Strategy(kernel, terms, options)
//     reduce(terms, batch)       takes a term away, or more, and tells the batch what it did to the
//                                others. Returns the degradation ||dw||^2
//     Joint                      the strategy for terms with a row of coefficients each. It is made
//                                in the same way, and has
//     reduce(terms, newest)      the same; `newest` are the pairs of the last term with all others
//                                (Kernel::pairs), or null where they are not at hand
// It must not know which solver calls it, and not allocate from call to call. The newest term is
// pending when reduce is called: its norm and coefficient are in place, its point is not before
// batch.place_pending(terms); kernels that see only terms (sees_only_terms) need that first.
#pragma once

#include "maintenance/merge.hpp"
#include "maintenance/project.hpp"
#include "maintenance/remove.hpp"
#include "model/choices.hpp"

namespace budgetsvm {

template <class T>
using Strategies = Choices<Merge<T>, Project<T>, Remove<T>>;

}  // namespace budgetsvm
