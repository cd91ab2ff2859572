// SPDX-License-Identifier: BSD-3-Clause
// Pack<T>: one SIMD register of T's. Needed where values must stay in registers over a long loop,
// which compilers do not achieve from plain arrays; simple elementwise loops are left to the
// auto-vectoriser. Included by leaf.cpp only, and internal to it: see the note on linking there.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(__AVX__)
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

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
    using type = std::uint32_t;  // unsigned: sums of bits may wrap around
};
template <>
struct BitsOf<double> {
    using type = std::uint64_t;
};

#if defined(__GNUC__) && !defined(BUDGETSVM_PLAIN_PACKS)  // vector types with operators

#define BUDGETSVM_UNROLL _Pragma("GCC unroll 16")

template <class T, int bytes = pack_bytes>
struct PackOf {
    typedef T type __attribute__((vector_size(bytes)));
    typedef T unaligned __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
    typedef typename BitsOf<T>::type bits __attribute__((vector_size(bytes)));
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
#if defined(__SSE2__)  // one instruction each, which the compiler does not find by itself
#if defined(__AVX512F__)
#define BUDGETSVM_INTRINSIC(name, kind) _mm512_##name##_##kind
#elif defined(__AVX__)
#define BUDGETSVM_INTRINSIC(name, kind) _mm256_##name##_##kind
#else
#define BUDGETSVM_INTRINSIC(name, kind) _mm_##name##_##kind
#endif
inline Pack<float> lesser(Pack<float> a, Pack<float> b) {
    return BUDGETSVM_INTRINSIC(min, ps)(a, b);
}
inline Pack<double> lesser(Pack<double> a, Pack<double> b) {
    return BUDGETSVM_INTRINSIC(min, pd)(a, b);
}
inline Pack<float> greater(Pack<float> a, Pack<float> b) {
    return BUDGETSVM_INTRINSIC(max, ps)(a, b);
}
inline Pack<double> greater(Pack<double> a, Pack<double> b) {
    return BUDGETSVM_INTRINSIC(max, pd)(a, b);
}
#else
template <class P>
inline P lesser(P a, P b) {
    return a < b ? a : b;
}
template <class P>
inline P greater(P a, P b) {
    return a > b ? a : b;
}
#endif
// value where a >= b, else 0
template <class P>
inline P keep_unless_less(P a, P b, P value) {
    return a < b ? P{} : value;
}
// As many values as a pack of doubles holds, converted.
inline Pack<double> widen(const double* p) { return load(p); }
inline Pack<double> widen(const float* p) {
#if defined(__AVX512F__)  // GCC 12 turns __builtin_convertvector into twice the instructions
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif defined(__AVX__)
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    using Half = typename PackOf<float, pack_bytes / 2>::unaligned;
    return __builtin_convertvector(*reinterpret_cast<const Half*>(p), Pack<double>);
#endif
}
// value * 2^n, n being what stands in the low bits of `shifted`
template <class T, int mantissa>
inline Pack<T> times_power(Pack<T> value, Pack<T> shifted) {
    using Bits = typename PackOf<T>::bits;
    return (Pack<T>)((Bits)value + ((Bits)shifted << mantissa));
}

#else  // the same on a small array

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
BUDGETSVM_PACK(greater, a.v[i] > b.v[i] ? a.v[i] : b.v[i])
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
inline Pack<T> keep_unless_less(Pack<T> a, Pack<T> b, Pack<T> value) {
    for (int i = 0; i < pack_size<T>; ++i) value.v[i] = a.v[i] < b.v[i] ? T(0) : value.v[i];
    return value;
}
template <class T>
inline Pack<double> widen(const T* p) {
    Pack<double> r;
    for (int i = 0; i < pack_size<double>; ++i) r.v[i] = p[i];
    return r;
}
template <class T, int mantissa>
inline Pack<T> times_power(Pack<T> value, Pack<T> shifted) {
    typename BitsOf<T>::type a[pack_size<T>], b[pack_size<T>];
    std::memcpy(a, value.v, sizeof a);
    std::memcpy(b, shifted.v, sizeof b);
    for (int i = 0; i < pack_size<T>; ++i) a[i] += b[i] << mantissa;
    std::memcpy(value.v, a, sizeof a);
    return value;
}

#endif

template <class P>
inline P absolute(P a) {
    return greater(a, P{} - a);
}

template <class P>
inline auto total(P a) {
    auto sum = a[0];
    for (int i = 1; i < static_cast<int>(sizeof a / sizeof sum); ++i) sum += a[i];
    return sum;
}

template <class T>
inline T least_lane(Pack<T> a) {
    constexpr int width = pack_size<T>;
    T lanes[width];
    store(lanes, a);
    BUDGETSVM_UNROLL
    for (int n = width / 2; n > 0; n /= 2) BUDGETSVM_UNROLL
    for (int i = 0; i < n; ++i) lanes[i] = lanes[i + n] < lanes[i] ? lanes[i + n] : lanes[i];
    return lanes[0];
}

// The position of the lowest bit that is set; there must be one.
inline int first_bit(std::uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int i = 0;
    for (; !(bits & 1); bits >>= 1) ++i;
    return i;
#endif
}

// Bit i says whether a[i] < b[i].
#if defined(__AVX512F__) && !defined(BUDGETSVM_PLAIN_PACKS)
inline unsigned less_bits(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline unsigned less_bits(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
#elif defined(__AVX__) && !defined(BUDGETSVM_PLAIN_PACKS)
inline unsigned less_bits(__m256 a, __m256 b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)));
}
inline unsigned less_bits(__m256d a, __m256d b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)));
}
#elif defined(__SSE2__) && !defined(BUDGETSVM_PLAIN_PACKS)
inline unsigned less_bits(__m128 a, __m128 b) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_cmplt_ps(a, b)));
}
inline unsigned less_bits(__m128d a, __m128d b) {
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmplt_pd(a, b)));
}
#else
template <class P>
inline unsigned less_bits(P a, P b) {
    unsigned bits = 0;
    for (int i = 0; i < static_cast<int>(sizeof a / sizeof a[0]); ++i)
        bits |= static_cast<unsigned>(a[i] < b[i]) << i;
    return bits;
}
#endif

}  // namespace
}  // namespace budgetsvm
