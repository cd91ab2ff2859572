"""The rows of a problem as functions on the span of a basis, and the products that solvers need of them."""
