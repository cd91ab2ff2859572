// SPDX-License-Identifier: BSD-3-Clause
// exp of a pack of numbers. Included by leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "leaf/pack.hpp"

namespace budgetsvm {
namespace {

// x = n ln 2 + r, exp(x) = 2^n exp(r). Adding 1.5 * 2^mantissa to x / ln 2 rounds it to the integer
// n, which then stands in the low bits of the sum. The polynomials approximate exp(r), |r| <=
// ln(2)/2: in double by interpolation in the Chebyshev nodes, in single with the least relative
// error among those of degree 5 with exp(0) = 1, which is 9e-8. Both leave about a rounding error.
template <class T>
struct Exp;
template <>
struct Exp<float> {
    static constexpr float shift = 12582912.0f;  // 1.5 * 2^23
    static constexpr float lowest = -87.0f;      // below, 2^n is no normal number any more
    static constexpr int mantissa = 23, degree = 5;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    static constexpr float series[] = {1.0f,         0.999999707f,  0.499991495f,
                                       0.166676362f, 0.0418979293f, 0.0082903149f};
};
template <>
struct Exp<double> {
    static constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double lowest = -708.0;
    static constexpr int mantissa = 52, degree = 11;
    static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
    static constexpr double series[] = {1.0,
                                        1.0,
                                        0.50000000000000184,
                                        0.166666666666666808,
                                        0.0416666666664879525,
                                        0.00833333333331958962,
                                        0.00138888889523528629,
                                        0.000198412698900764028,
                                        0.000024801485441561313,
                                        2.75572408872298686e-6,
                                        2.76326547225277919e-7,
                                        2.51100492048186598e-8};
};

// x[i] := exp(x[i]) for x <= 0; exactly 0 where the result would be denormal. Several packs step by
// step: one alone would wait for each of its own results, and the CPU cannot look far enough ahead
// to begin with the next. Below `lowest` anything may come out of the steps, before 0 takes its
// place.
template <class T, int n>
inline void exp_negative(Pack<T>* x) {
    using E = Exp<T>;
    const Pack<T> lowest = spread(E::lowest), shift = spread(E::shift);
    Pack<T> r[n], shifted[n], value[n];
#define BUDGETSVM_EACH BUDGETSVM_UNROLL for (int i = 0; i < n; ++i)
    BUDGETSVM_EACH shifted[i] = x[i] * spread(T(1.4426950408889634)) + shift;
    BUDGETSVM_EACH value[i] = shifted[i] - shift;
    BUDGETSVM_EACH r[i] = x[i] - value[i] * spread(E::ln2_high);
    BUDGETSVM_EACH r[i] = r[i] - value[i] * spread(E::ln2_low);
    BUDGETSVM_EACH value[i] = spread(E::series[E::degree]);
    BUDGETSVM_UNROLL
    for (int k = E::degree - 1; k >= 0; --k)
        BUDGETSVM_EACH value[i] = value[i] * r[i] + spread(E::series[k]);
    BUDGETSVM_EACH value[i] = times_power<T, E::mantissa>(value[i], shifted[i]);
    BUDGETSVM_EACH x[i] = keep_unless_less(x[i], lowest, value[i]);
#undef BUDGETSVM_EACH
}

}  // namespace
}  // namespace budgetsvm
