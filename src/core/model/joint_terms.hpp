// SPDX-License-Identifier: BSD-3-Clause
// Terms with a row of coefficients each, one for every output.
#pragma once

#include <algorithm>
#include <cmath>

#include "model/terms.hpp"

namespace budgetsvm {

// terms.coef has the norms of the rows.
template <class T>
struct JointTerms {
    Terms<T>& terms;
    double* rows;  // (capacity, outputs)
    std::int32_t outputs;

    double* row(std::int32_t j) const { return rows + static_cast<std::int64_t>(j) * outputs; }

    double product(std::int32_t a, std::int32_t b) const {
        const double *x = row(a), *y = row(b);
        double sum = 0;
        for (std::int32_t c = 0; c < outputs; ++c) sum += x[c] * y[c];
        return sum;
    }

    void append(Row<T> x, T norm, const double* beta) {
        const std::int32_t j = terms.size;
        terms.append(norm, 0);
        terms.place(j, x);
        set_row(j, beta);
    }

    void set_row(std::int32_t j, const double* beta) {
        std::copy(beta, beta + outputs, row(j));
        measure(j);
    }

    // beta_j += share * beta
    void add(std::int32_t j, double share, const double* beta) {
        double* own = row(j);
        for (std::int32_t c = 0; c < outputs; ++c) own[c] += share * beta[c];
        measure(j);
    }

    void remove(std::int32_t j) {
        const std::int32_t last = terms.size - 1;
        if (j != last) std::copy(row(last), row(last) + outputs, row(j));
        terms.remove(j);
    }

    void measure(std::int32_t j) { terms.coef[j] = std::sqrt(product(j, j)); }
};

}  // namespace budgetsvm
