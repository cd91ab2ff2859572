// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the leaf functions, compiled once per instruction set; BUDGETSVM_LEVEL names it.
//
// All is internal to its translation unit: an inline function shared with other files could be
// linked in its widest version and crash on an older CPU. Hence no standard library either.
//
// The compiler may contract a*b+c to one FMA, and may assume that arithmetic does not trap (CMake
// passes -fno-trapping-math -fno-math-errno). It may not reorder sums or ignore NaN and infinity.
#include "leaf/leaf.hpp"

#include "leaf/exp.hpp"
#include "leaf/extents.hpp"
#include "leaf/panel_rows.hpp"
#include "leaf/search.hpp"
#include "leaf/sparse_terms.hpp"
#include "leaf/sums.hpp"

namespace budgetsvm {
namespace {

template <class T>
void decay(const T* distances, T gamma, std::int32_t count, T* out) {
    constexpr int width = pack_size<T>;
    const Pack<T> rate = spread(-gamma);
    for (std::int32_t j = 0; j < count; j += 2 * width) {
        Pack<T> x[2] = {load(distances + j) * rate, load(distances + j + width) * rate};
        exp_negative<T, 2>(x);
        store(out + j, x[0]), store(out + j + width, x[1]);
    }
}

// sums += weights * exp(rate * distances), two packs of distances.
template <class T>
inline void add_decayed(const T* distances, Pack<T> rate, const double* weights,
                        Pack<double>* sums) {
    constexpr int width = pack_size<T>, step = 2 * width;
    Pack<T> x[2] = {load(distances) * rate, load(distances + width) * rate};
    exp_negative<T, 2>(x);
    T values[step];
    store(values, x[0]), store(values + width, x[1]);
    BUDGETSVM_UNROLL
    for (int i = 0; i < step; i += pack_size<double>) {
        Pack<double>& sum = sums[i / pack_size<double> % 2];
        sum = sum + load(weights + i) * widen(values + i);
    }
}

template <class T>
double decayed_sum(const T* distances, T gamma, const double* weights, std::int32_t count) {
    constexpr int step = 2 * pack_size<T>;
    const Pack<T> rate = spread(-gamma);
    Pack<double> sums[2] = {};
    std::int32_t j = 0;
    for (; j + step <= count; j += step) add_decayed(distances + j, rate, weights + j, sums);
    if (j < count) {
        T some[step] = {};
        double their_weights[step] = {};
        for (std::int32_t i = 0; j + i < count; ++i)
            some[i] = distances[j + i], their_weights[i] = weights[j + i];
        add_decayed(some, rate, their_weights, sums);
    }
    return total(sums[0] + sums[1]);
}

// ---- points against panels: lanes along the terms, one panel of sums in registers ----

template <class T>
constexpr int packs = lanes<T> / pack_size<T>;

// What the distances need beside operators.
struct PackMath {
    template <class P>
    static P absolute(P x) {
        return budgetsvm::absolute(x);
    }
};

struct Product {
    template <class Math, class P>
    static P add(P sum, P x, P z) {
        return sum + x * z;
    }
};

// Over the first n packs of a panel.
template <class Operation, bool sparse, int n, class T>
inline void sum_entries(Row<T> x, const T* panel, Pack<T>* sums) {
    BUDGETSVM_UNROLL
    for (int i = 0; i < n; ++i) sums[i] = Pack<T>{};
    for (std::int32_t e = 0; e < x.count; ++e) {
        const std::int64_t feature = sparse ? x.indices[e] : e;
        const T* z = panel + feature * lanes<T>;
        const Pack<T> value = spread(x.values[e]);
        BUDGETSVM_UNROLL
        for (int i = 0; i < n; ++i)
            sums[i] = Operation::template add<PackMath>(sums[i], value, load(z + i * pack_size<T>));
    }
}

template <class T>
void dot(Points<T> x, Panels<T> z, T* out, std::int64_t stride) {
    for (std::int32_t p = 0; p < z.count(); ++p) {
        for (std::int32_t q = 0; q < x.count; ++q) {
            Pack<T> sums[packs<T>];
            if (x.rows[q].indices)
                sum_entries<Product, true, packs<T>>(x.rows[q], z.panel(p), sums);
            else
                sum_entries<Product, false, packs<T>>(x.rows[q], z.panel(p), sums);
            T* to = out + q * stride + p * lanes<T>;
            BUDGETSVM_UNROLL
            for (int i = 0; i < packs<T>; ++i) store(to + i * pack_size<T>, sums[i]);
        }
    }
}

// Packs whose exp is computed together: few enough that constants stay in registers, too.
constexpr int packs_at_once = 2;
static_assert(packs<float> % (2 * packs_at_once) == 0 && packs<double> % (2 * packs_at_once) == 0,
              "half a panel is taken so many packs at a time");

enum class Want { distances, kernel, sums };  // sums: with the distances

// One point against the first n packs of a panel. Writes the distances or kernel values to `out`,
// and returns the sums over the packs of coef * kernel; these stay in precision T, like the kernel
// values, as they are of eight numbers a lane.
template <class Distance, bool sparse, Want want, int n, class T>
inline Pack<T> radial_panel(Row<T> x, T x_norm, const T* panel, const T* norms, T gamma,
                            const T* coef, T* out) {
    Pack<T> sums[n];
    sum_entries<Distance, sparse, n>(x, panel, sums);
    const Pack<T> own = spread(x_norm), rate = spread(-gamma);
    BUDGETSVM_UNROLL
    for (int i = 0; i < n; ++i) {
        const Pack<T> some = load(norms + i * pack_size<T>);
        store(out + i * pack_size<T>, greater(Distance::distance(own, some, sums[i]), Pack<T>{}));
    }
    Pack<T> products[packs_at_once] = {};
    if (want == Want::distances) return products[0];
    BUDGETSVM_UNROLL
    for (int start = 0; start < n; start += packs_at_once) {
        Pack<T> values[packs_at_once];
        BUDGETSVM_UNROLL
        for (int i = 0; i < packs_at_once; ++i)
            values[i] = load(out + (start + i) * pack_size<T>) * rate;
        exp_negative<T, packs_at_once>(values);
        BUDGETSVM_UNROLL
        for (int i = 0; i < packs_at_once; ++i) {
            const int at = (start + i) * pack_size<T>;
            if (want == Want::kernel) store(out + at, values[i]);
            if (want == Want::sums) products[i] = products[i] + load(coef + at) * values[i];
        }
    }
    return products[0] + products[1];
}

// Sums over panels, in double.
template <class T>
struct Sums {
    Pack<double> of[sizeof(double) / sizeof(T)];

    void add(Pack<T> products) {
        T each[pack_size<T>];
        store(each, products);
        int start = 0;
        for (Pack<double>& some : of) some = some + widen(each + start), start += pack_size<double>;
    }
};

// The coefficients of panel p in precision T, 0 beyond the last.
template <class T>
inline void narrow_coef(const double* coef, std::int32_t p, std::int32_t size, T* out) {
    const std::int32_t rest = size - p * lanes<T>, count = rest < lanes<T> ? rest : lanes<T>;
    coef += p * lanes<T>;
    for (std::int32_t l = 0; l < count; ++l) out[l] = static_cast<T>(coef[l]);
    for (std::int32_t l = count; l < lanes<T>; ++l) out[l] = 0;
}

// Points [start, stop) against the first n packs of panel p; coef are those of the panel.
template <class Distance, Want want, int n, class T>
inline void evaluate_panel(const Points<T>& x, std::int32_t start, std::int32_t stop,
                           const Panels<T>& z, std::int32_t p, T gamma, const T* coef,
                           const Out<T>& out, Sums<T>* sums) {
    const T *panel = z.panel(p), *norms = z.norms + p * lanes<T>;
    const std::int32_t rest = out.width - p * lanes<T>;
    T whole[lanes<T>];  // for where the output has no room for all of the panel
    for (std::int32_t q = start; q < stop; ++q) {
        const Row<T> row = x.rows[q];
        T* to = rest > 0 ? out.values + q * out.stride + p * lanes<T> : whole;
        T* safe = rest < lanes<T> ? whole : to;
        const Pack<T> products = row.indices
                                     ? radial_panel<Distance, true, want, n>(
                                           row, x.norms[q], panel, norms, gamma, coef, safe)
                                     : radial_panel<Distance, false, want, n>(
                                           row, x.norms[q], panel, norms, gamma, coef, safe);
        if (want == Want::sums) sums[q - start].add(products);
        if (to != safe) std::memcpy(to, whole, sizeof(T) * static_cast<unsigned>(rest));
    }
}

template <class Distance, Want want, class T>
void radial(Points<T> x, Panels<T> z, T gamma, Out<T> out, const double* coef, double* values) {
    for (std::int32_t start = 0; start < x.count; start += points_at_once) {
        const std::int32_t end = start + points_at_once, stop = end < x.count ? end : x.count;
        Sums<T> sums[points_at_once] = {};
        for (std::int32_t p = 0; p < z.count(); ++p) {
            T narrowed[lanes<T>];
            if (want == Want::sums) narrow_coef(coef, p, z.size, narrowed);
            const bool half = z.size - p * lanes<T> <= lanes<T> / 2;  // or less
            if (half)
                evaluate_panel<Distance, want, packs<T> / 2>(x, start, stop, z, p, gamma, narrowed,
                                                             out, sums);
            else
                evaluate_panel<Distance, want, packs<T>>(x, start, stop, z, p, gamma, narrowed, out,
                                                         sums);
        }
        if (want != Want::sums) continue;
        for (std::int32_t q = start; q < stop; ++q)
            for (const Pack<double>& some : sums[q - start].of) values[q] += total(some);
    }
}

template <class Distance, class T>
constexpr Radial<T> radial_table = {
    [](Points<T> x, Panels<T> z, Out<T> out) {
        radial<Distance, Want::distances, T>(x, z, T(1), out, nullptr, nullptr);
    },
    [](Points<T> x, Panels<T> z, T gamma, Out<T> out) {
        radial<Distance, Want::kernel, T>(x, z, gamma, out, nullptr, nullptr);
    },
    radial<Distance, Want::sums, T>, to_extents<Distance, T>, sparse_distances<Distance, T>};

template <class T, class... Each>
constexpr Leaf<T> make_table(DistanceList<Each...>) {
    return {dot<T>,
            sparse_dot<T>,
            {radial_table<Each, T>...},
            decay<T>,
            decayed_sum<T>,
            sum<T>,
            sum_over<Multiply, T>,
            axpy<T>,
            sum_over<SquaredDifference, T>,
            [](const double* coef, std::int32_t count) {
                return index_of_least<true, double>(coef, count, nullptr);
            },
            index_of_least<false, T>,
            candidates<T>,
            below<T>,
            dots<T>,
            add_rows<T>,
            panels_dot<T>,
            add_panels<T>,
            add_outer<T>,
            slopes,
            inverse_curvatures<T>,
            most_promising<T>,
            exchange<T>};
}

template <class T>
constexpr Leaf<T> table = make_table<T>(Distances{});

}  // namespace

namespace BUDGETSVM_LEVEL {
extern const Leaf<float> leaf_float;
extern const Leaf<double> leaf_double;
const Leaf<float> leaf_float = table<float>;
const Leaf<double> leaf_double = table<double>;
}  // namespace BUDGETSVM_LEVEL

}  // namespace budgetsvm
