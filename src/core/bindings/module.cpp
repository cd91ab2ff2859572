// SPDX-License-Identifier: BSD-3-Clause
// The extension module budgetsvm._core: unpacks NumPy arrays, picks the instantiation, releases the
// GIL. All arrays belong to Python; results are written in place. Documented in _core.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "leaf/leaf.hpp"

namespace budgetsvm {
void bind_learn(nanobind::module_& m);
void bind_maintenance(nanobind::module_& m);
void bind_polish(nanobind::module_& m);
void bind_exact(nanobind::module_& m);
void bind_evaluate(nanobind::module_& m);
void bind_pruning(nanobind::module_& m);
void bind_read(nanobind::module_& m);
}  // namespace budgetsvm

NB_MODULE(_core, m) {
    budgetsvm::bind_learn(m);
    budgetsvm::bind_maintenance(m);
    budgetsvm::bind_polish(m);
    budgetsvm::bind_exact(m);
    budgetsvm::bind_evaluate(m);
    budgetsvm::bind_pruning(m);
    budgetsvm::bind_read(m);
    m.def("level", [] { return std::string(budgetsvm::level()); });
    m.attr("PANEL_BYTES") = budgetsvm::panel_bytes;
}
