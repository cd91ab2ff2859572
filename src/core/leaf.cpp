// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the leaf functions, compiled once per instruction set; BUDGETSVM_LEVEL names it.
//
// Everything here is internal to its translation unit: an inline function shared with other files
// could be linked in its widest version and crash on an older CPU. Hence no standard library
// either.
//
// The compiler may contract a*b+c to one FMA, and may assume that arithmetic does not trap (CMake
// passes -fno-trapping-math -fno-math-errno). It may not reorder sums or ignore NaN and infinity.
#include "leaf.hpp"

#include <cstring>

#include "pack.hpp"

namespace budgetsvm {
namespace {

// ---- sums over features: lanes along the terms, one panel of accumulators in registers ----

struct Product {
    template <class P>
    static P apply(P sum, P x, P z) {
        return sum + x * z;
    }
};

struct L1Excess {
    template <class P>
    static P apply(P sum, P x, P z) {
        return sum + (absolute(x - z) - absolute(z));
    }
};

template <class Operation, bool sparse, class T>
void accumulate(Row<T> x, const T* panels, std::int32_t features, std::int32_t n_panels, T* out) {
    constexpr int packs = lanes<T> / pack_size<T>;
    for (std::int32_t p = 0; p < n_panels; ++p) {
        const T* panel = panels + static_cast<std::int64_t>(p) * features * lanes<T>;
        Pack<T> sums[packs];
        BUDGETSVM_UNROLL
        for (int i = 0; i < packs; ++i) sums[i] = Pack<T>{};
        for (std::int32_t e = 0; e < x.count; ++e) {
            const std::int64_t feature = sparse ? x.indices[e] : e;
            const T* z = panel + feature * lanes<T>;
            const Pack<T> value = spread(x.values[e]);
            BUDGETSVM_UNROLL
            for (int i = 0; i < packs; ++i)
                sums[i] = Operation::apply(sums[i], value, load(z + i * pack_size<T>));
        }
        BUDGETSVM_UNROLL
        for (int i = 0; i < packs; ++i) store(out + p * lanes<T> + i * pack_size<T>, sums[i]);
    }
}

template <class Operation, class T>
void accumulate_any(Row<T> x, const T* panels, std::int32_t features, std::int32_t n_panels,
                    T* out) {
    if (x.indices)
        accumulate<Operation, true>(x, panels, features, n_panels, out);
    else
        accumulate<Operation, false>(x, panels, features, n_panels, out);
}

// ---- elementwise ----

template <class T>
void distance(T* out, const T* norms, T x_norm, T slope, std::int32_t count) {
    for (std::int32_t j = 0; j < count; ++j) {
        const T d = x_norm + norms[j] + slope * out[j];
        out[j] = d > T(0) ? d : T(0);
    }
}

// Constants of exp: x = n ln 2 + r, exp(x) = 2^n exp(r). Adding 1.5 * 2^mantissa to x / ln 2 rounds
// it to the integer n, which then stands in the low bits of the sum.
template <class T>
struct Exp;
template <>
struct Exp<float> {
    using bits = std::int32_t;
    static constexpr float shift = 12582912.0f;  // 1.5 * 2^23
    static constexpr float lowest = -87.0f;      // below, 2^n is no normal number any more
    static constexpr int mantissa = 23, degree = 7;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};
template <>
struct Exp<double> {
    using bits = std::int64_t;
    static constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double lowest = -708.0;
    static constexpr int mantissa = 52, degree = 13;
    static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
};

constexpr double inverse_factorial(int k) { return k < 2 ? 1.0 : inverse_factorial(k - 1) / k; }

// exp(r) by its Taylor polynomial: |r| <= ln(2)/2, so that the rest is below the rounding error.
template <class T, int k>
struct Taylor {
    static T from(T r) { return T(inverse_factorial(k)) + r * Taylor<T, k + 1>::from(r); }
};
template <>
struct Taylor<float, Exp<float>::degree> {
    static float from(float) { return float(inverse_factorial(Exp<float>::degree)); }
};
template <>
struct Taylor<double, Exp<double>::degree> {
    static double from(double) { return inverse_factorial(Exp<double>::degree); }
};

// exp(x) for x <= 0; exactly 0 where the result would be denormal.
template <class T>
inline T exp_negative(T x) {
    using E = Exp<T>;
    const T clamped = x < E::lowest ? E::lowest : x;
    const T shifted = clamped * T(1.4426950408889634) + E::shift;
    const T n = shifted - E::shift;
    const T r = (clamped - n * E::ln2_high) - n * E::ln2_low;
    const T mantissa = Taylor<T, 0>::from(r);
    typename E::bits exponent, result_bits;
    T result;
    std::memcpy(&exponent, &shifted, sizeof exponent);
    std::memcpy(&result_bits, &mantissa, sizeof result_bits);
    result_bits += exponent << E::mantissa;  // the constant's own bits are shifted out
    std::memcpy(&result, &result_bits, sizeof result);
    return x < E::lowest ? T(0) : result;
}

template <class T>
void decay(const T* distances, T gamma, std::int32_t count, T* out) {
    for (std::int32_t j = 0; j < count; ++j) out[j] = exp_negative(-gamma * distances[j]);
}

// s(L) / (1 + max(0, rho))^2 with s(L) = 1 - exp(-2L) (1 + 2L): see merge.hpp.
template <class T>
void merge_bounds(const T* distances, const T* kappa, const double* coef, double coef_a, T gamma,
                  std::int32_t count, T* bound) {
    const T a = T(coef_a);
    for (std::int32_t j = 0; j < count; ++j) {
        const T scaled = 2 * gamma * distances[j];
        const T x = scaled < T(1000) ? scaled : T(1000);
        const T closed = 1 - kappa[j] * kappa[j] * (1 + x);
        // The closed form cancels for small x; six terms of the series are exact enough there.
        const T series =
            x * x *
            (T(1.0 / 2) -
             x * (T(1.0 / 3) - x * (T(1.0 / 8) - x * (T(1.0 / 30) - x * T(1.0 / 144)))));
        const T s = x < T(0.25) ? series : closed;
        const T rho = a / T(coef[j]);
        const T one_plus = rho > T(0) ? 1 + rho : T(1);
        bound[j] = s / (one_plus * one_plus);
    }
}

// ---- reductions, in a fixed order whatever the instruction set's neighbour does ----

template <class T>
double sum(const double* coef, const T* values, std::int32_t count) {
    constexpr int width = pack_size<double>, packs = 4, step = width * packs;
    Pack<double> sums[packs];
    BUDGETSVM_UNROLL
    for (int i = 0; i < packs; ++i) sums[i] = Pack<double>{};
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        double wide[step];
        for (int i = 0; i < step; ++i) wide[i] = values[j + i];
        BUDGETSVM_UNROLL
        for (int i = 0; i < packs; ++i)
            sums[i] = sums[i] + load(coef + j + i * width) * load(wide + i * width);
    }
    const Pack<double> all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = 0;
    for (int i = 0; i < width; ++i) total += all[i];
    for (; j < count; ++j) total += coef[j] * values[j];
    return total;
}

template <class T>
void add(double scale, const T* values, double* sums, std::int32_t count) {
    for (std::int32_t j = 0; j < count; ++j) sums[j] += scale * values[j];
}

template <class T>
T inner(const T* a, const T* b, std::int32_t count) {
    constexpr int width = pack_size<T>, packs = 4, step = width * packs;
    Pack<T> sums[packs];
    BUDGETSVM_UNROLL
    for (int i = 0; i < packs; ++i) sums[i] = Pack<T>{};
    std::int32_t k = 0;
    for (; k + step <= count; k += step) BUDGETSVM_UNROLL
    for (int i = 0; i < packs; ++i)
        sums[i] = sums[i] + load(a + k + i * width) * load(b + k + i * width);
    const Pack<T> all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    T total = 0;
    for (int i = 0; i < width; ++i) total += all[i];
    for (; k < count; ++k) total += a[k] * b[k];
    return total;
}

template <class T>
void axpy(T scale, const T* x, T* y, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) y[k] += scale * x[k];
}

// The index of the smallest value or, if `magnitude`, of the smallest absolute value.
template <bool magnitude, class T>
std::int32_t index_of_least(const T* values, std::int32_t count) {
    constexpr int width = pack_size<T>, packs = 4, step = width * packs;
    const auto size = [](T value) { return magnitude && value < 0 ? -value : value; };
    Pack<T> least[packs];
    BUDGETSVM_UNROLL
    for (int i = 0; i < packs; ++i) least[i] = spread(size(values[0]));
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        BUDGETSVM_UNROLL
        for (int i = 0; i < packs; ++i) {
            const Pack<T> some = load(values + j + i * width);
            least[i] = lesser(least[i], magnitude ? absolute(some) : some);
        }
    }
    const Pack<T> all = lesser(lesser(least[0], least[1]), lesser(least[2], least[3]));
    T minimum = all[0];
    for (int i = 1; i < width; ++i) minimum = all[i] < minimum ? all[i] : minimum;
    for (; j < count; ++j) minimum = size(values[j]) < minimum ? size(values[j]) : minimum;
    for (j = 0; j < count - 1; ++j)
        if (size(values[j]) == minimum) break;
    return j;
}

std::int32_t smallest(const double* coef, std::int32_t count) {
    return index_of_least<true>(coef, count);
}

template <class T>
std::int32_t lowest(const T* values, std::int32_t count) {
    return index_of_least<false>(values, count);
}

// ---- groups of rows: sums in double of what may be stored in single ----

// Ask for the cache lines that hold the entries from j on of the next group. Spread over the work
// on this group: more requests at once than the core has buffers for would stall it.
template <class T>
inline void prefetch_next(const T* const* rows, std::int32_t j) {
#if defined(__GNUC__)
    BUDGETSVM_UNROLL
    for (int i = 0; i < group_size; ++i) __builtin_prefetch(rows[group_size + i] + j);
#endif
}

template <class T>
void dots(const T* const* rows, const double* coef, std::int32_t count, double* out) {
    constexpr int width = pack_size<double>, packs = 2, line = 64 / sizeof(T);
    constexpr int step = line > width * packs ? line : width * packs;
    Pack<double> sums[group_size][packs];
    BUDGETSVM_UNROLL
    for (int i = 0; i < group_size; ++i) BUDGETSVM_UNROLL
    for (int p = 0; p < packs; ++p) sums[i][p] = Pack<double>{};
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        prefetch_next(rows, j);
        BUDGETSVM_UNROLL
        for (int k = 0; k < step; k += width) {
            const Pack<double> factor = load(coef + j + k);
            BUDGETSVM_UNROLL
            for (int i = 0; i < group_size; ++i) {
                Pack<double>& sum = sums[i][k / width % packs];
                sum = sum + factor * load_double(rows[i] + j + k);
            }
        }
    }
    for (int i = 0; i < group_size; ++i) {
        const Pack<double> all = sums[i][0] + sums[i][1];
        double total = 0;
        for (int k = 0; k < width; ++k) total += all[k];
        for (std::int32_t k = j; k < count; ++k) total += coef[k] * rows[i][k];
        out[i] = total;
    }
}

template <class T>
void add_rows(const double* scale, const T* const* rows, std::int32_t count, double* sums) {
    constexpr int width = pack_size<double>, line = 64 / sizeof(T);
    constexpr int step = line > width ? line : width;
    std::int32_t j = 0;
    for (; j + step <= count; j += step) {
        prefetch_next(rows, j);
        BUDGETSVM_UNROLL
        for (int k = 0; k < step; k += width) {
            Pack<double> sum = load(sums + j + k);
            BUDGETSVM_UNROLL
            for (int i = 0; i < group_size; ++i)
                sum = sum + spread(scale[i]) * load_double(rows[i] + j + k);
            store(sums + j + k, sum);
        }
    }
    for (; j < count; ++j)
        for (int i = 0; i < group_size; ++i) sums[j] += scale[i] * rows[i][j];
}

template <class T>
constexpr Leaf<T> table = {accumulate_any<Product, T>,
                           accumulate_any<L1Excess, T>,
                           distance<T>,
                           decay<T>,
                           sum<T>,
                           add<T>,
                           inner<T>,
                           axpy<T>,
                           smallest,
                           lowest<T>,
                           merge_bounds<T>,
                           dots<T>,
                           add_rows<T>};

}  // namespace

namespace BUDGETSVM_LEVEL {
extern const Leaf<float> leaf_float;
extern const Leaf<double> leaf_double;
const Leaf<float> leaf_float = table<float>;
const Leaf<double> leaf_double = table<double>;
}  // namespace BUDGETSVM_LEVEL

}  // namespace budgetsvm
