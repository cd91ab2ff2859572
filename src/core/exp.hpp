// SPDX-License-Identifier: BSD-3-Clause
// exp of a pack of numbers. Included by leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "pack.hpp"

namespace budgetsvm {
namespace {

// x = n ln 2 + r, exp(x) = 2^n exp(r). Adding 1.5 * 2^mantissa to x / ln 2 rounds it to the integer
// n, which then stands in the low bits of the sum. The polynomials interpolate exp(r), |r| <=
// ln(2)/2, in the Chebyshev nodes; what they leave is below the rounding error.
template <class T>
struct Exp;
template <>
struct Exp<float> {
    static constexpr float shift = 12582912.0f;  // 1.5 * 2^23
    static constexpr float lowest = -87.0f;      // below, 2^n is no normal number any more
    static constexpr int mantissa = 23, degree = 6;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    static constexpr float series[] = {1.0f,
                                       1.00000003773887126f,
                                       0.500000004714605742f,
                                       0.166664154140411784f,
                                       0.0416663527711122113f,
                                       0.00837513477462432517f,
                                       0.00139411188958370008f};
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

// exp(x) for x <= 0; exactly 0 where the result would be denormal.
template <class T>
inline Pack<T> exp_negative(Pack<T> x) {
    using E = Exp<T>;
    const Pack<T> lowest = spread(E::lowest), shift = spread(E::shift);
    const Pack<T> clamped = greater(x, lowest);
    const Pack<T> shifted = clamped * spread(T(1.4426950408889634)) + shift;
    const Pack<T> n = shifted - shift;
    const Pack<T> r = (clamped - n * spread(E::ln2_high)) - n * spread(E::ln2_low);
    Pack<T> value = spread(E::series[E::degree]);
    BUDGETSVM_UNROLL
    for (int k = E::degree - 1; k >= 0; --k) value = value * r + spread(E::series[k]);
    return keep_unless_less(x, lowest, times_power<T, E::mantissa>(value, shifted));
}

}  // namespace
}  // namespace budgetsvm
