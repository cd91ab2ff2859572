// SPDX-License-Identifier: BSD-3-Clause
// Searches through arrays: the smallest, those that may be cheap to merge with, and what steps of
// two variables look at (polish/pair_steps.hpp). Included by
// leaf.cpp only, and internal to it: see the note there.
#pragma once

#include "leaf/exp.hpp"
#include "leaf/leaf.hpp"
#include "leaf/pack.hpp"

namespace budgetsvm {
namespace {

// Arrays are searched in blocks of four packs. The last block ends where the array ends: it may
// overlap with the one before.
template <class T>
struct Blocks {
    static constexpr std::int32_t width = pack_size<T>, step = 4 * width;
    std::int32_t size;

    std::int32_t count() const { return (size + step - 1) / step; }
    std::int32_t start(std::int32_t b) const {
        return (b + 1) * step < size ? b * step : size - step;
    }
};

template <bool absolutes, class T>
inline std::int32_t plain_index_of_least(const T* values, std::int32_t count) {
    const auto size = [values](std::int32_t j) {
        return absolutes && values[j] < 0 ? -values[j] : values[j];
    };
    std::int32_t best = 0;
    for (std::int32_t j = 1; j < count; ++j)
        if (size(j) < size(best)) best = j;
    return best;
}

// The index of the smallest value or, if `absolutes`, the smallest absolute value; the first of
// equals. minima, if not null: the smallest of every block, lane by lane.
template <bool absolutes, class T>
std::int32_t index_of_least(const T* values, std::int32_t count, T* minima) {
    constexpr int width = pack_size<T>;
    const Blocks<T> blocks{count};
    if (count < blocks.step) return plain_index_of_least<absolutes>(values, count);
    const auto some = [values](std::int32_t j) {
        return absolutes ? absolute(load(values + j)) : load(values + j);
    };
    const auto least_of = [blocks, some](std::int32_t b) {
        const std::int32_t j = blocks.start(b);
        return lesser(lesser(some(j), some(j + width)),
                      lesser(some(j + 2 * width), some(j + 3 * width)));
    };
    Pack<T> least = some(0);
    for (std::int32_t b = 0; b < blocks.count(); ++b) {
        const Pack<T> here = least_of(b);
        if (minima) store(minima + b * width, here);
        least = lesser(least, here);
    }
    const Pack<T> bound = spread(least_lane<T>(least));
    constexpr unsigned all_larger = (1u << width) - 1;
    std::int32_t b = 0;
    while (b < blocks.count() - 1 && less_bits(bound, least_of(b)) == all_larger) ++b;
    std::uint64_t found = 0;
    for (int k = 0; k < 4; ++k) {
        const std::uint64_t larger = less_bits(bound, some(blocks.start(b) + k * width));
        found |= (larger ^ all_larger) << (k * width);
    }
    return blocks.start(b) + first_bit(found);
}

// Whether s(L) < cost r may hold, lane by lane: see maintenance/partner.hpp. With x = 2L,
//     s = 1 - kappa^2 (1 + x) >= p / (1 + x + p),   p = x^2/2 + x^3/6 + x^4/24,
// where the last is as good for small x, and has no cancellation. In units of beta_j^2, with rho =
// beta_a / beta_j, r <= 1 + c (2 rho + rho^2) where both have one sign, and 1 where they have not.
template <class T>
inline unsigned may_be_cheaper(const T* distances, const double* coef, const Bound<T>& bound) {
    T sizes[pack_size<T>];
    for (int i = 0; i < pack_size<T>; ++i) sizes[i] = static_cast<T>(coef[i]);
    const T own = bound.beta < 0 ? -bound.beta : bound.beta;
    const Pack<T> beta = load(sizes) * spread(bound.beta < 0 ? T(-1) : T(1)), square = beta * beta;
    const Pack<T> x = lesser(load(distances) * spread(bound.scale), spread(T(40)));
    Pack<T> kappa[] = {x * spread(T(-0.5))};
    exp_negative<T, 1>(kappa);
    const Pack<T> kappa_2 = kappa[0] * kappa[0], c = lesser(kappa[0], kappa_2 * spread(T(3.01)));
    const Pack<T> more = spread(own) * (beta + beta + spread(own));  // (2 rho + rho^2) beta_j^2
    const Pack<T> most =
        spread(bound.cost) * (square + c * keep_unless_less(beta, spread(T(0)), more));
    const Pack<T> p = x * x * ((x * spread(T(1.0 / 24)) + spread(T(1.0 / 6))) * x + spread(T(0.5)));
    const Pack<T> one = spread(T(1)), least = spread(T(1 - 1e-6)) - kappa_2 * (one + x);
    return less_bits(p * square, most * (one + x + p)) & less_bits(least * square, most);
}

template <class T>
std::int32_t candidates(const T* distances, const double* coef, std::int32_t count, Bound<T> bound,
                        std::int32_t nearest, const T* minima, std::int32_t* found) {
    constexpr int width = pack_size<T>;
    const Blocks<T> blocks{count};
    const Pack<T> farthest = spread(bound.farthest);
    std::int32_t n = 0;
    if (count < blocks.step) {
        for (std::int32_t j = 0; j < count; ++j)
            if (distances[j] < bound.farthest && j != nearest) found[n++] = j;
        return n;
    }
    for (std::int32_t b = 0; b < blocks.count(); ++b) {
        if (!less_bits(load(minima + b * width), farthest)) continue;
        for (std::int32_t k = blocks.start(b); k < blocks.start(b) + blocks.step; k += width) {
            unsigned bits = less_bits(load(distances + k), farthest);
            if (k <= nearest && nearest < k + width) bits &= ~(1u << (nearest - k));
            if (bits) bits &= may_be_cheaper(distances + k, coef + k, bound);
            for (std::int32_t j = k; bits; ++j, bits >>= 1)
                if (bits & 1 && j >= b * blocks.step) found[n++] = j;
        }
    }
    return n;
}

inline void slopes(Variables v, std::int32_t count, double never, double* descents,
                   double* downhill) {
    for (std::int32_t i = 0; i < count; ++i) {
        const double beta = v.beta[i], residual = v.residual[i];
        const double up = residual + (beta < 0 ? v.epsilon : -v.epsilon);
        const double down = residual + (beta > 0 ? -v.epsilon : v.epsilon);
        descents[i] = beta < v.upper[i] ? -up : never;
        downhill[i] = beta > v.lower[i] ? down : never;
    }
}

template <class T>
void inverse_curvatures(const T* values, const T* diagonal, T own, std::int32_t count, T* out) {
    for (std::int32_t i = 0; i < count; ++i) {
        const T curvature = own + diagonal[i] - 2 * values[i];
        out[i] = 1 / (curvature > T(1e-12) ? curvature : T(1e-12));
    }
}

template <class T>
std::int32_t most_promising(double highest, const double* downhill, const T* inverse,
                            std::int32_t count, double* losses) {
    for (std::int32_t i = 0; i < count; ++i) {
        const double slope = highest - downhill[i], ascent = slope > 0 ? slope : 0;
        losses[i] = -(ascent * ascent) * inverse[i];
    }
    return index_of_least<false, double>(losses, count, nullptr);
}

template <class T>
void exchange(double change, const T* of_up, const T* of_down, std::int32_t count,
              double* residual) {
    for (std::int32_t i = 0; i < count; ++i)
        residual[i] -= change * (static_cast<double>(of_up[i]) - static_cast<double>(of_down[i]));
}

}  // namespace
}  // namespace budgetsvm
