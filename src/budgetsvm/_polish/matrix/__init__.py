"""The rows of a problem in the coordinates of a basis, and the products that solvers need of them."""
