// SPDX-License-Identifier: BSD-3-Clause
// Rows of LIBSVM (SVMlight) files: label [qid:number] index:value index:value ... [# comment]
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "read/number.hpp"

namespace budgetsvm {

struct Text {
    const char* begin;
    const char* end;
};

// How many rows and entries a text may have, at most.
struct TextSize {
    std::int64_t rows;
    std::int64_t entries;
};

inline TextSize text_size(Text text) {
    std::int64_t lines = 0, colons = 0;
    for (const char* p = text.begin; p < text.end; ++p) {
        lines += *p == '\n';
        colons += *p == ':';
    }
    return {lines + 1, colons};
}

// What was read. Where there is a fault, it is at text.begin + fault, in the row after the last.
struct Reading {
    std::int64_t rows = 0;
    std::int64_t entries = 0;
    std::int64_t least = std::numeric_limits<std::int32_t>::max();  // index in use
    std::int64_t largest = -1;
    std::int64_t fault = -1;
};

// Where rows go: compressed sparse rows. A text may be a file that someone writes to at the moment:
// that there is room is looked at each time.
struct SparseRows {
    std::int64_t* starts;
    std::int32_t* indices;
    double* values;
    std::int64_t room;
    std::int64_t entries = 0;

    void begin(std::int64_t row) { starts[row] = entries; }
    bool put(std::int32_t index, double value) {
        if (entries == room) return false;
        indices[entries] = index;
        values[entries++] = value;
        return true;
    }
    void end(std::int64_t rows) { starts[rows] = entries; }
};

namespace detail {

inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

inline void skip_blanks(const char*& p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
}

// Whether a word may end here.
inline bool at_end_of_word(const char* p, const char* end) {
    return p == end || is_blank(*p) || *p == '\n' || *p == '#';
}

inline bool at_end_of_row(const char* p, const char* end) {
    return p == end || *p == '\n' || *p == '#';
}

// Windows begins UTF-8 files with a byte order mark; in the middle there is one where files were
// joined.
inline void skip_mark(const char*& p, const char* end) {
    if (end - p >= 3 && p[0] == '\xef' && p[1] == '\xbb' && p[2] == '\xbf') p += 3;
}

inline bool read_finite(const char*& p, const char* end, double& value) {
    return read_number(p, end, value) && std::isfinite(value) && at_end_of_word(p, end);
}

// Reads a query's number, which says nothing about the row itself; false if there is something
// else.
inline bool skip_query(const char*& p, const char* end) {
    if (end - p < 5 || p[0] != 'q' || p[1] != 'i' || p[2] != 'd' || p[3] != ':') return false;
    const char* q = p + 4;
    while (q < end && is_digit(*q)) ++q;
    if (q == p + 4 || !at_end_of_word(q, end)) return false;
    p = q;
    return true;
}

// An index from `first` on, up to what 32 bits can hold, and its colon.
inline bool read_index(const char*& p, const char* end, std::int64_t& index) {
    const char* q = p;
    index = 0;
    for (; q < end && is_digit(*q); ++q) {
        index = index * 10 + (*q - '0');
        if (index > std::numeric_limits<std::int32_t>::max()) return false;
    }
    if (q == p || q == end || *q != ':') return false;
    p = q + 1;
    return true;
}

}  // namespace detail

// Reads all rows, or those before the first fault. Indices ascend within a row, from `first` (0 or
// 1) to first + features - 1. There is room for `most` rows.
inline Reading read_libsvm(Text text, std::int64_t first, std::int64_t features, double* labels,
                           std::int64_t most, SparseRows out) {
    using namespace detail;
    Reading done;
    const char *p = text.begin, *const end = text.end;
    const std::int64_t limit = first + features;
    const auto fault = [&](const char* where) {
        done.fault = where - text.begin;
        out.entries = done.entries;  // those of whole rows
        out.end(done.rows);
        return done;
    };
    while (p < end) {
        skip_mark(p, end);
        skip_blanks(p, end);
        if (!at_end_of_row(p, end)) {
            const char* word = p;
            if (done.rows == most || !read_finite(p, end, labels[done.rows])) return fault(word);
            out.begin(done.rows);
            skip_blanks(p, end);
            if (skip_query(p, end)) skip_blanks(p, end);
            std::int64_t index = 0, before = first - 1;
            for (; !at_end_of_row(p, end); skip_blanks(p, end)) {
                double value;
                word = p;
                if (!read_index(p, end, index) || index <= before || index >= limit ||
                    !read_finite(p, end, value) ||
                    !out.put(static_cast<std::int32_t>(index - first), value))
                    return fault(word);
                if (before < first) done.least = std::min(done.least, index);
                before = index;
            }
            done.largest = std::max(done.largest, before < first ? -1 : before);
            done.entries = out.entries;
            ++done.rows;
        }
        while (p < end && *p != '\n') ++p;  // over a comment
        ++p;
    }
    out.end(done.rows);
    return done;
}

}  // namespace budgetsvm
