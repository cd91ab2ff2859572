// SPDX-License-Identifier: BSD-3-Clause
// The kernels; the Python side is kernels.py. A new one is a struct here and its place in the list
// at the end: of a family of kernel_families.hpp, or by itself, with all the functions that they
// have. A radial one with a new distance adds it to leaf/distances.hpp.
#pragma once

#include <functional>

#include "model/choices.hpp"
#include "model/kernel_families.hpp"

namespace budgetsvm {

// Fills out[0..size) with k(x, z_j); x has all its features.
using KernelFunction = std::function<void(const double* x, std::int32_t size, double* out)>;

struct KernelParameters {
    double gamma, coef0;
    int degree;
    KernelFunction function;
};

// exp(-gamma ||x - z||^2)
struct Gaussian : RadialKernel<Gaussian, SquaredEuclidean>, SquaredNorm {
    static constexpr const char* name = "rbf";

    explicit Gaussian(const KernelParameters& parameters) : RadialKernel(parameters.gamma) {}
    static double contribution(double x, double z) { return (x - z) * (x - z); }
};

// exp(-gamma ||x - z||_1)
struct Laplacian : RadialKernel<Laplacian, Manhattan>, AbsoluteNorm {
    static constexpr const char* name = "laplacian";

    explicit Laplacian(const KernelParameters& parameters) : RadialKernel(parameters.gamma) {}
    static double contribution(double x, double z) { return std::fabs(x - z); }
};

// (gamma <x, z> + coef0)^degree
struct Polynomial : DotKernel<Polynomial> {
    static constexpr const char* name = "poly";
    double gamma, coef0;
    int degree;

    explicit Polynomial(const KernelParameters& parameters)
        : gamma(parameters.gamma), coef0(parameters.coef0), degree(parameters.degree) {}
    double of(double dot) const { return std::pow(gamma * dot + coef0, degree); }
};

// tanh(gamma <x, z> + coef0)
struct Sigmoid : DotKernel<Sigmoid> {
    static constexpr const char* name = "sigmoid";
    double gamma, coef0;

    explicit Sigmoid(const KernelParameters& parameters)
        : gamma(parameters.gamma), coef0(parameters.coef0) {}
    double of(double dot) const { return std::tanh(gamma * dot + coef0); }
};

// <x, z>
struct Linear : DotKernel<Linear> {
    static constexpr const char* name = "linear";

    explicit Linear(const KernelParameters&) {}
    double of(double dot) const { return dot; }
};

// A function of the user's, which is handed a point and knows the terms.
struct Callback : ValueKernel<Callback> {
    static constexpr const char* name = "callable";
    static constexpr bool sees_only_terms = true;
    KernelFunction function;

    explicit Callback(const KernelParameters& parameters) : function(parameters.function) {}

    template <class T>
    void rows(Points<T> x, const Terms<T>& terms, T* out, std::int64_t width) const {
        for (std::int32_t i = 0; i < x.count; ++i) {
            std::vector<double> point(terms.features), values(terms.size);
            x.rows[i].spread(point.data());
            function(point.data(), terms.size, values.data());
            for (std::int32_t j = 0; j < terms.size; ++j)
                out[i * width + j] = static_cast<T>(values[j]);
        }
    }

    template <class T>
    T pair(Row<T>, T, const SpreadRow<T>&, T) const {
        return 0;  // of a point that is no term nothing is known: batches have one point
    }

    template <class T>
    void exact_row(const Terms<T>& terms, std::int32_t a, double* out) const {
        std::vector<double> point(terms.features);
        terms.copy_point(a, point.data());
        function(point.data(), terms.size, out);
    }

    template <class T>
    double self(const Terms<T>& terms, std::int32_t j) const {
        std::vector<double> values(terms.size);
        exact_row(terms, j, values.data());
        return values[j];
    }
};

using Kernels = Choices<Gaussian, Laplacian, Polynomial, Sigmoid, Linear, Callback>;

}  // namespace budgetsvm
