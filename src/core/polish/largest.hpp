// SPDX-License-Identifier: BSD-3-Clause
// The largest of many numbers that are offered one after the other, with who has them. Of equal
// ones, those offered first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace budgetsvm {

class Largest {
  public:
    struct Offer {
        double value;
        std::int32_t who;

        bool operator<(const Offer& other) const {  // the better one comes first
            return value > other.value || (value == other.value && who < other.who);
        }
    };

    // `who` must rise from offer to offer.
    void begin(std::size_t most) {
        most_ = most;
        least_ = most > 0 ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
        offers_.clear();
    }

    // What has to be exceeded, which grows.
    double least() const { return least_; }
    bool accepts(double value) const { return value > least_; }

    // What is accepted.
    void offer(double value, std::int32_t who) {
        offers_.push_back({value, who});
        if (offers_.size() >= 4 * most_) keep_best();
    }

    // The best ones, in any order.
    const std::vector<Offer>& found() {
        if (offers_.size() > most_) keep_best();
        return offers_;
    }

  private:
    void keep_best() {
        const auto end = offers_.begin() + static_cast<std::ptrdiff_t>(most_);
        std::nth_element(offers_.begin(), end - 1, offers_.end());
        least_ = (end - 1)->value;
        offers_.erase(end, offers_.end());
    }

    std::size_t most_ = 0;
    double least_ = 0;
    std::vector<Offer> offers_;
};

}  // namespace budgetsvm
