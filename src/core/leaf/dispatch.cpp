// SPDX-License-Identifier: BSD-3-Clause
// Picks the leaf once, when the extension is loaded: the widest level that both the build and the
// CPU have. The environment variable BUDGETSVM_ISA (baseline, v3, v4) asks for a narrower one.
#include <cstdlib>
#include <cstring>

#include "leaf/leaf.hpp"

namespace budgetsvm {

namespace baseline {
extern const Leaf<float> leaf_float;
extern const Leaf<double> leaf_double;
}  // namespace baseline
#if BUDGETSVM_X86_LEVELS
namespace v3 {
extern const Leaf<float> leaf_float;
extern const Leaf<double> leaf_double;
}  // namespace v3
namespace v4 {
extern const Leaf<float> leaf_float;
extern const Leaf<double> leaf_double;
}  // namespace v4
#endif

namespace {

struct Level {
    const char* name;
    const Leaf<float>* leaf_float;
    const Leaf<double>* leaf_double;
    bool available;
};

#if BUDGETSVM_X86_LEVELS
bool has_v3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}
bool has_v4() {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

Level choose() {
    const Level levels[] = {
#if BUDGETSVM_X86_LEVELS
        {"v4", &v4::leaf_float, &v4::leaf_double, has_v4()},
        {"v3", &v3::leaf_float, &v3::leaf_double, has_v3()},
#endif
        {"baseline", &baseline::leaf_float, &baseline::leaf_double, true},
    };
    const char* wanted = std::getenv("BUDGETSVM_ISA");
    for (const Level& candidate : levels)
        if (candidate.available && wanted && std::strcmp(wanted, candidate.name) == 0)
            return candidate;
    for (const Level& candidate : levels)
        if (candidate.available) return candidate;
    std::abort();  // unreachable: the baseline is always available
}

const Level chosen = choose();

}  // namespace

template <>
const Leaf<float>& leaf<float>() {
    return *chosen.leaf_float;
}
template <>
const Leaf<double>& leaf<double>() {
    return *chosen.leaf_double;
}
const char* level() { return chosen.name; }

}  // namespace budgetsvm
