// SPDX-License-Identifier: BSD-3-Clause
// The distances of radial kernels. Each is a sum over the *entries* of x alone, so that a sparse
// row touches the features it has and no others, and one number per point that stands for the rest:
// its norm (Kernel::norm).
//
// The leaf instantiates them for packs of numbers, model/kernels.hpp for one: Math has what
// operators do not. A new distance is a struct here and its place in the list at the end.
//
// Of sparse terms, too, only the features that both have are touched: `overlap` is what such a
// feature adds to the distance between points that share none, and `of_overlaps` the distance.
#pragma once

#include <cstdint>

// Functions that the levels of the leaf share with other files: never called, always inlined, so
// that no version for one CPU is linked into code for another.
#if defined(__GNUC__)
#define BUDGETSVM_INLINE __attribute__((always_inline)) inline
#else
#define BUDGETSVM_INLINE __forceinline
#endif

namespace budgetsvm {

// ||x - z||^2 = ||x||^2 + ||z||^2 - 2 <x, z>; norms are squared.
struct SquaredEuclidean {
    template <class Math, class P>
    static BUDGETSVM_INLINE P add(P sum, P x, P z) {
        return sum + x * z;
    }
    template <class P>
    static BUDGETSVM_INLINE P distance(P x_norm, P z_norm, P sum) {
        return (x_norm + z_norm) - (sum + sum);
    }
    template <class Math, class P>
    static BUDGETSVM_INLINE P overlap(P sum, P x, P z) {
        return sum + x * z;
    }
    template <class P>
    static BUDGETSVM_INLINE P of_overlaps(P x_norm, P z_norm, P sum) {
        return (x_norm + z_norm) - (sum + sum);
    }
    // What a feature adds that is beyond a bound by this much.
    template <class P>
    static BUDGETSVM_INLINE P of_gap(P gap) {
        return gap * gap;
    }
};

// ||x - z||_1 = ||z||_1 + sum over the entries of x of |x - z| - |z|
struct Manhattan {
    template <class Math, class P>
    static BUDGETSVM_INLINE P add(P sum, P x, P z) {
        return sum + (Math::absolute(x - z) - Math::absolute(z));
    }
    template <class P>
    static BUDGETSVM_INLINE P distance(P, P z_norm, P sum) {
        return z_norm + sum;
    }
    template <class Math, class P>
    static BUDGETSVM_INLINE P overlap(P sum, P x, P z) {
        return sum + ((Math::absolute(x - z) - Math::absolute(x)) - Math::absolute(z));
    }
    template <class P>
    static BUDGETSVM_INLINE P of_overlaps(P x_norm, P z_norm, P sum) {
        return (x_norm + z_norm) + sum;
    }
    template <class P>
    static BUDGETSVM_INLINE P of_gap(P gap) {
        return gap;
    }
};

template <class... Each>
struct DistanceList {
    static constexpr int count = sizeof...(Each);
};
using Distances = DistanceList<SquaredEuclidean, Manhattan>;

constexpr int n_distances = Distances::count;

template <class A, class B>
struct Same {
    static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
    static constexpr bool value = true;
};

// Where a distance stands in the list.
template <class Distance, class... Each>
constexpr BUDGETSVM_INLINE int position(DistanceList<Each...>) {
    int before = 0;
    bool found = false;
    ((found = found || Same<Distance, Each>::value, before += !found), ...);
    return before;
}

}  // namespace budgetsvm
