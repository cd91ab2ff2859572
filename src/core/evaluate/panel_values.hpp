// SPDX-License-Identifier: BSD-3-Clause
// Kernel values of some pairs of a point and a panel of terms, `lanes` values each.
#pragma once

#include <algorithm>
#include <vector>

#include "evaluate/bounds.hpp"
#include "model/terms.hpp"

namespace budgetsvm {

// Which panels each of some points has: numbers[starts[i]], ..., numbers[starts[i + 1] - 1] are
// those of point i, in rising order.
struct PanelNumbers {
    const std::int64_t* starts;
    const std::int32_t* numbers;
};

template <class T>
class PanelValues {
  public:
    static constexpr std::int32_t most_points = 256;

    PanelValues(const RadialLoops<T>& kernel, const Terms<T>& terms)
        : kernel_(kernel),
          terms_(terms),
          values_(static_cast<std::size_t>(most_points) * lanes<T>),
          gathered_(most_points),
          lists_(terms.view().count(), most_points) {}

    // out: (pairs, lanes), of all pairs from starts[0] on; 0 where a panel has no term.
    void evaluate(Points<T> x, const PanelNumbers& pairs, T* out) {
        lists_.clear();
        for (std::int32_t i = 0; i < x.count; ++i) {
            next_[i] = pairs.starts[i];
            for (std::int64_t b = pairs.starts[i]; b < pairs.starts[i + 1]; ++b)
                lists_.add(pairs.numbers[b], i);
        }
        for (std::int32_t p = 0; p < terms_.view().count(); ++p) {
            const std::int32_t count = lists_.count(p), *which = lists_.points(p);
            if (count == 0) continue;
            const Panels<T> panel = one_panel(terms_.view(), p);
            kernel_.loops->kernel(gathered_.take(x, which, count), panel, kernel_.gamma,
                                  Out<T>{values_.data(), lanes<T>, panel.size});
            for (std::int32_t i = 0; i < count; ++i) {
                const T* from = values_.data() + i * lanes<T>;
                T* to = out + next_[which[i]]++ * lanes<T>;
                std::fill(std::copy(from, from + panel.size, to), to + lanes<T>, T(0));
            }
        }
    }

  private:
    const RadialLoops<T> kernel_;
    const Terms<T> terms_;
    std::vector<T> values_;
    Gathered<T> gathered_;
    PanelLists lists_;
    std::int64_t next_[most_points];
};

}  // namespace budgetsvm
