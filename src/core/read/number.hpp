// SPDX-License-Identifier: BSD-3-Clause
// Numbers in text, rounded correctly, whatever the locale.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#if !defined(__cpp_lib_to_chars) && !defined(_MSC_VER)
#include <clocale>
#include <cstdlib>
#include <string>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace budgetsvm {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The number that [begin, end) spells, for those that are too long for the short way: a decimal
// number without a sign. Beyond what a double can hold it is infinite if `large`, and zero if not.
inline double long_number(const char* begin, const char* end, bool large) {
    double value = 0;
#if defined(__cpp_lib_to_chars) || defined(_MSC_VER)
    if (std::from_chars(begin, end, value).ec == std::errc::result_out_of_range)
        value = large ? std::numeric_limits<double>::infinity() : 0.0;
#else
    (void)large;
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    value = strtod_l(std::string(begin, end).c_str(), nullptr, plain);
#endif
    return value;
}

// Reads a decimal number at `at`, and moves `at` behind it. Without a digit nothing is read.
inline bool read_number(const char*& at, const char* end, double& value) {
    // Up to 19 digits fit; where the integer is below 2^53 and the power of ten is exact, so is one
    // multiplication or division (Clinger 1990).
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* p = at;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* const unsigned_part = p;
    std::uint64_t digits = 0;
    int count = 0, exponent = 0;  // count: of digits, leading zeros left out
    bool any = false, short_enough = true;
    const auto take = [&](int shift) {
        for (; p < end && is_digit(*p); ++p) {
            any = true;
            if (count < 19) {
                digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
                count += digits != 0;
                exponent -= shift;
            } else {
                short_enough = false;
            }
        }
    };
    take(0);
    if (p < end && *p == '.') {
        ++p;
        take(1);
    }
    if (!any) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char* q = p + 1;
        const bool down = q < end && *q == '-';
        if (q < end && (*q == '-' || *q == '+')) ++q;
        if (q < end && is_digit(*q)) {  // otherwise the number ends before the letter
            int power = 0;
            for (; q < end && is_digit(*q); ++q)
                if (power < 100000) power = power * 10 + (*q - '0');
            exponent += down ? -power : power;
            p = q;
        }
    }
    if (short_enough && digits < (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
        value = static_cast<double>(digits);
        value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    } else {
        value = long_number(unsigned_part, p, exponent + count > 0);
    }
    if (negative) value = -value;
    at = p;
    return true;
}

}  // namespace budgetsvm
