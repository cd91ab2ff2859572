// SPDX-License-Identifier: BSD-3-Clause
// Dual coordinate ascent for a linear SVM whose rows are g_i (Hsieh et al., ICML 2008, Algorithm 3;
// Ho & Lin 2012 for regression): model/losses.hpp with w = sum_i alpha_i y_i g_i. With g_i the
// features of phase 2 this is the kernel SVM in the span of the terms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "evaluate/passes.hpp"
#include "leaf/leaf.hpp"

namespace budgetsvm {

template <class T>
struct LinearProblem {
    const T* rows;       // (n, width), row-major
    const T* curvature;  // ||g_i||^2
    const double* y;
    const double* targets;
    const double* box;
    double* alpha;
    T* w;
    std::int32_t width;
};

// Shrinking: a variable at a bound whose gradient points outwards by more than the worst violation
// seen in the pass before is left out of the coming passes.
struct Shrinking {
    // Of the projected gradients of the pass before. Infinite: no shrinking.
    double upper;  // the largest, > 0
    double lower;  // the smallest, < 0
};

struct Pass {
    std::int64_t kept = 0;  // variables that stay active; the first ones of `order`
    double upper = 0;       // the largest projected gradient met
    double lower = 0;       // the smallest
};

// Visit the rows in the given order once; those that stay active are moved to its front. The loss
// is one of model/losses.hpp.
template <class Loss, class T>
Pass ascend(const Loss& loss, const LinearProblem<T>& problem, std::int64_t* order,
            std::int64_t count, Shrinking shrinking) {
    constexpr std::int64_t ahead = 2;
    const auto row = [&](std::int64_t i) { return problem.rows + i * problem.width; };
    Pass pass;
    for (std::int64_t r = 0; r < count; ++r) {
        if (r + ahead < count) prefetch(row(order[r + ahead]), problem.width);
        const std::int64_t i = order[r];
        double& alpha = problem.alpha[i];
        const double y = problem.y[i], C = problem.box[i];
        const double slack =
            problem.targets[i] - y * leaf<T>().inner(problem.w, row(i), problem.width);
        // On its side of the kink at 0 a variable is like one of the hinge loss.
        const double size = loss.side(alpha, slack) * alpha;
        const double gradient = loss.gradient(alpha, slack, C);
        const double bound = loss.bound(C);
        if (size <= 0 && gradient < shrinking.lower) continue;
        if (size >= bound && gradient > shrinking.upper) continue;
        std::swap(order[pass.kept++], order[r]);
        if (size < bound) pass.upper = std::max(pass.upper, gradient);
        if (size > 0) pass.lower = std::min(pass.lower, gradient);
        const double target = loss.exact_step(alpha, slack, problem.curvature[i], C);
        const double delta = target - alpha;
        if (delta == 0) continue;
        alpha = target;
        leaf<T>().axpy(static_cast<T>(y * delta), row(i), problem.w, problem.width);
    }
    return pass;
}

// Numbers that look random, the same on every machine (SplitMix64: Steele, Lea & Flood 2014).
class Shuffler {
  public:
    explicit Shuffler(std::uint64_t seed) : state_(seed) {}

    void shuffle(std::int64_t* items, std::int64_t count) {
        for (std::int64_t last = count - 1; last > 0; --last)
            std::swap(items[last], items[below(static_cast<std::uint64_t>(last) + 1)]);
    }

  private:
    // One of 0..bound-1; bound < 2^32.
    std::int64_t below(std::uint64_t bound) {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<std::int64_t>((((z ^ (z >> 31)) >> 32) * bound) >> 32);
    }

    std::uint64_t state_;
};

// Where passes with shrinking have got to.
struct Passes {
    std::int64_t done = 0;
    std::int64_t kept;    // variables that are active; the first ones of `order`
    Shrinking shrinking;  // in the coming pass
    bool settled = false;
};

// Passes in random order over `count` rows until no violation exceeds the precision, at most so
// many. What was left out is looked at before the end, so that it may be left out early.
template <class Loss, class T>
Passes ascend_until(const Loss& loss, const LinearProblem<T>& problem, std::int64_t* order,
                    std::int64_t count, Passes passes, double precision, std::int64_t most,
                    Shuffler shuffler) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    while (passes.done < most && !passes.settled) {
        const bool shrunk = passes.kept < count;
        shuffler.shuffle(order, passes.kept);
        const Pass pass = ascend(loss, problem, order, passes.kept, passes.shrinking);
        ++passes.done;
        passes.kept = pass.kept;
        passes.shrinking = {pass.upper > 0 ? std::min(pass.upper, precision) : infinity,
                            pass.lower < 0 ? std::max(pass.lower, -precision) : -infinity};
        if (pass.upper - pass.lower > precision) continue;
        passes.settled = !shrunk;
        passes.kept = count;
        passes.shrinking = {infinity, -infinity};
    }
    return passes;
}

}  // namespace budgetsvm
