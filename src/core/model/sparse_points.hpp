// SPDX-License-Identifier: BSD-3-Clause
// The points of terms as lists of entries, on arrays that the caller owns, and for as long as a
// call takes an index of their features (leaf/feature_index.hpp), which follows all changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "leaf/leaf.hpp"

namespace budgetsvm {

// Point j has counts[j] entries from starts[j] on, in rising order of their features, and room for
// those up to starts[j + 1].
template <class T>
struct Slots {
    T* values;
    std::int32_t* indices;
    const std::int64_t* starts;
    std::int32_t* counts;
    std::int32_t capacity;
    std::int32_t room;  // of every slot that is to change
};

template <class T>
class SparsePoints {
  public:
    SparsePoints(const Slots<T>& slots, std::int32_t size)
        : slots_(slots), many_(std::max(least_many, slots.capacity / 8)), size_(size) {}

    // Make the index, before anything else is done with the points.
    void prepare() {
        std::fill(slots_.counts + size_, slots_.counts + slots_.capacity, 0);
        std::int64_t entries = 0;
        for (std::int32_t j = 0; j < size_; ++j) entries += slots_.counts[j];
        postings_.reserve(static_cast<std::size_t>(entries));
        make_table(entries);
        for (std::int32_t j = 0; j < size_; ++j) enter(j);
    }

    std::int32_t room() const { return slots_.room; }

    Row<T> row(std::int32_t j) const {
        const std::int64_t start = slots_.starts[j];
        return {slots_.values + start, slots_.indices + start, slots_.counts[j]};
    }

    FeatureIndex<T> index() const {
        return {table_.data(), postings_.data(), columns_.data(), slots_.capacity, shift_};
    }

    // x has no more entries than there is room for.
    void place(std::int32_t j, Row<T> x) {
        if (is(j, x)) return;  // a merge may leave a point where it is
        withdraw(j);
        T* values = slots_.values + slots_.starts[j];
        std::int32_t* indices = slots_.indices + slots_.starts[j];
        std::int32_t count = 0;
        for (std::int32_t e = 0; e < x.count; ++e) {
            if (x.values[e] == 0) continue;
            values[count] = x.values[e];
            indices[count++] = x.feature(e);
        }
        slots_.counts[j] = count;
        enter(j);
    }

    // Point `to` is gone, and the last one takes its place.
    void move(std::int32_t last, std::int32_t to) {
        if (to != last) place(to, row(last));
        withdraw(last);
        slots_.counts[last] = 0;
    }

  private:
    static constexpr std::int32_t least_many = 16;  // terms; fewer are a list in any case

    bool is(std::int32_t j, Row<T> x) const {
        const Row<T> own = row(j);
        return x.indices && own.count == x.count &&
               std::equal(x.values, x.values + x.count, own.values) &&
               std::equal(x.indices, x.indices + x.count, own.indices);
    }

    // ---- the index ----

    void enter(std::int32_t j) {
        const Row<T> x = row(j);
        for (std::int32_t e = 0; e < x.count; ++e) {
            if (x.values[e] == 0) continue;
            Feature& feature = found(x.indices[e]);
            if (feature.column < 0 && feature.count >= many_) make_column(feature);
            ++feature.count;
            if (feature.column >= 0)
                column(feature)[j] = x.values[e];
            else
                feature.first = new_posting({x.values[e], j, feature.first});
        }
    }

    void withdraw(std::int32_t j) {
        const Row<T> x = row(j);
        for (std::int32_t e = 0; e < x.count; ++e) {
            if (x.values[e] == 0) continue;
            Feature& feature = table_[static_cast<std::size_t>(index().place(x.indices[e]))];
            --feature.count;
            if (feature.column < 0) {
                unlink(feature, j);
                continue;
            }
            column(feature)[j] = 0;
            if (feature.count > 0) continue;
            free_columns_.push_back(feature.column);
            feature.column = -1;
        }
    }

    T* column(const Feature& feature) {
        return columns_.data() + static_cast<std::int64_t>(feature.column) * slots_.capacity;
    }

    void make_column(Feature& feature) {
        if (free_columns_.empty()) {
            feature.column = static_cast<std::int32_t>(columns_.size() / slots_.capacity);
            columns_.resize(columns_.size() + static_cast<std::size_t>(slots_.capacity));
        } else {
            feature.column = free_columns_.back();
            free_columns_.pop_back();
        }
        for (std::int32_t p = feature.first; p >= 0;) {
            const Posting<T> old = postings_[p];
            column(feature)[old.term] = old.value;
            free_posting(p);
            p = old.next;
        }
        feature.first = -1;
    }

    // ---- postings; those that are free are a list, too ----

    std::int32_t new_posting(const Posting<T>& posting) {
        if (free_ < 0) {
            postings_.push_back(posting);
            return static_cast<std::int32_t>(postings_.size()) - 1;
        }
        const std::int32_t p = free_;
        free_ = postings_[p].next;
        postings_[p] = posting;
        return p;
    }

    void free_posting(std::int32_t p) {
        postings_[p].next = free_;
        free_ = p;
    }

    void unlink(Feature& feature, std::int32_t term) {
        std::int32_t* link = &feature.first;
        while (postings_[*link].term != term) link = &postings_[*link].next;
        const std::int32_t p = *link;
        *link = postings_[p].next;
        free_posting(p);
    }

    // ---- the table of features ----

    // The entry of a feature, made if there is none.
    Feature& found(std::int32_t number) {
        std::int64_t at = index().place(number);
        if (table_[at].number < 0) {
            if (2 * (n_known_ + 1) > static_cast<std::int64_t>(table_.size())) {
                grow();
                at = index().place(number);
            }
            ++n_known_;
            table_[at] = {number, -1, -1, 0};
        }
        return table_[at];
    }

    // A table with room for so many features.
    void make_table(std::int64_t features) {
        int bits = 6;
        while ((std::int64_t{1} << bits) < 2 * features + 2) ++bits;
        shift_ = 32 - bits;
        table_.assign(std::size_t{1} << bits, Feature{-1, -1, -1, 0});
        n_known_ = 0;
    }

    // Features that no term has any more are forgotten.
    void grow() {
        std::vector<Feature> old;
        for (const Feature& feature : table_)
            if (feature.count > 0) old.push_back(feature);
        make_table(2 * static_cast<std::int64_t>(old.size()));
        for (const Feature& feature : old) table_[index().place(feature.number)] = feature;
        n_known_ = static_cast<std::int64_t>(old.size());
    }

    const Slots<T> slots_;
    const std::int32_t many_;  // a feature of more terms than this has a column
    const std::int32_t size_;  // points there were in the beginning
    std::vector<Feature> table_;
    std::vector<Posting<T>> postings_;
    std::vector<T> columns_;
    std::vector<std::int32_t> free_columns_;
    std::int32_t free_ = -1;  // posting
    std::int64_t n_known_ = 0;
    int shift_ = 0;
};

}  // namespace budgetsvm
