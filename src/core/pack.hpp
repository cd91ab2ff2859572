// SPDX-License-Identifier: BSD-3-Clause
// Pack<T>: one SIMD register of T's. Needed where sums must stay in registers over a long loop,
// which compilers do not achieve from plain arrays; elementwise loops are left to the
// auto-vectoriser. Included by leaf.cpp only, and internal to it: see the note on linking there.
#pragma once

#include <cstdint>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace budgetsvm {
namespace {

#if defined(__AVX512F__)
constexpr int pack_bytes = 64;
#elif defined(__AVX__)
constexpr int pack_bytes = 32;
#else
constexpr int pack_bytes = 16;
#endif

template <class T>
constexpr int pack_size = pack_bytes / sizeof(T);

#if defined(__GNUC__)  // GCC and Clang have vector types with operators

#define BUDGETSVM_UNROLL _Pragma("GCC unroll 16")

template <class T>
struct PackOf {
    typedef T type __attribute__((vector_size(pack_bytes)));
    typedef T unaligned __attribute__((vector_size(pack_bytes), aligned(sizeof(T)), may_alias));
};
template <class T>
using Pack = typename PackOf<T>::type;

template <class T>
inline Pack<T> load(const T* p) {
    return *reinterpret_cast<const typename PackOf<T>::unaligned*>(p);
}
template <class T>
inline void store(T* p, Pack<T> v) {
    *reinterpret_cast<typename PackOf<T>::unaligned*>(p) = v;
}
template <class T>
inline Pack<T> spread(T value) {
    return value - Pack<T>{};
}
template <class P>
inline P lesser(P a, P b) {
    return a < b ? a : b;
}
inline Pack<double> load_double(const double* p) { return load(p); }
inline Pack<double> load_double(const float* p) {
#if defined(__AVX512F__)  // GCC 12 turns __builtin_convertvector into twice the instructions
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif defined(__AVX__)
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    typedef float half __attribute__((vector_size(pack_bytes / 2), aligned(4), may_alias));
    return __builtin_convertvector(*reinterpret_cast<const half*>(p), Pack<double>);
#endif
}

#else  // the same operators on a small array

#define BUDGETSVM_UNROLL

template <class T>
struct Pack {
    T v[pack_size<T>];
    T operator[](int i) const { return v[i]; }
};
#define BUDGETSVM_PACK(name, expression)                            \
    template <class T>                                              \
    inline Pack<T> name(Pack<T> a, Pack<T> b) {                     \
        for (int i = 0; i < pack_size<T>; ++i) a.v[i] = expression; \
        return a;                                                   \
    }
BUDGETSVM_PACK(operator+, a.v[i] + b.v[i])
BUDGETSVM_PACK(operator-, a.v[i] - b.v[i])
BUDGETSVM_PACK(operator*, a.v[i] * b.v[i])
BUDGETSVM_PACK(lesser, a.v[i] < b.v[i] ? a.v[i] : b.v[i])
#undef BUDGETSVM_PACK

template <class T>
inline Pack<T> spread(T value) {
    Pack<T> r;
    for (int i = 0; i < pack_size<T>; ++i) r.v[i] = value;
    return r;
}
template <class T>
inline Pack<T> load(const T* p) {
    Pack<T> r;
    for (int i = 0; i < pack_size<T>; ++i) r.v[i] = p[i];
    return r;
}
template <class T>
inline void store(T* p, Pack<T> v) {
    for (int i = 0; i < pack_size<T>; ++i) p[i] = v.v[i];
}
template <class T>
inline Pack<double> load_double(const T* p) {
    Pack<double> r;
    for (int i = 0; i < pack_size<double>; ++i) r.v[i] = p[i];
    return r;
}

#endif

template <class P>
inline P absolute(P a) {
    const P minus = P{} - a;
    return P{} - lesser(a, minus);
}

}  // namespace
}  // namespace budgetsvm
