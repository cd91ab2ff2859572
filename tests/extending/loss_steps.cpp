// SPDX-License-Identifier: BSD-3-Clause
// Prints the step, the value and the slope of the example for each line "alpha u curvature C
// epsilon" of its input.
#include <cstdio>

#include "squared_epsilon_insensitive.hpp"

int main() {
    double alpha, u, curvature, C, epsilon;
    while (std::scanf("%lf %lf %lf %lf %lf", &alpha, &u, &curvature, &C, &epsilon) == 5) {
        const budgetsvm::SquaredEpsilonInsensitive loss({epsilon});
        std::printf("%.17g %.17g %.17g\n", loss.step(alpha, u, curvature, C), loss.value(u),
                    loss.slope(u));
    }
}
