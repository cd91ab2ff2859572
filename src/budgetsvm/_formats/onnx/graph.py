"""A part of an ONNX graph: nodes one after the other, and the sums of kernel values that models are.

All is computed in double precision, whatever the input: coefficients of terms that are near each other are large and of both
signs, and cancel.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._model.expansion import KernelExpansion
from budgetsvm.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid

INT64, _STRING, DOUBLE = 7, 8, 11  # types of tensors, in ONNX
_OPSET = 13  # of ONNX, since which all of these operators are what they are here


class Graph:
    """Adds nodes to a graph that skl2onnx makes; every method returns the name of a result."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def add(self, kind: str, *inputs: Any, out: str | None = None, **attributes: Any) -> str:
        """Add a node, whose inputs are names of others or arrays."""
        names = [one if isinstance(one, str) else self._constant(one) for one in inputs]
        result: str = out or self._scope.get_unique_variable_name(kind.lower())
        attributes["name"] = self._scope.get_unique_operator_name(kind)
        self._container.add_node(kind, names, [result], op_version=_OPSET, **attributes)
        return result

    def _constant(self, values: Any) -> str:
        from onnx import numpy_helper

        name: str = self._scope.get_unique_variable_name("constant")
        array = np.ascontiguousarray(values).reshape(np.shape(values))
        if array.dtype.kind in "UO":
            texts = [str(text).encode() for text in array]
            self._container.add_initializer(name, _STRING, list(array.shape), texts)
        else:
            tensor = numpy_helper.from_array(array, name)
            self._container.add_initializer(name, None, None, tensor)
        return name

    def rows(self, names: list[str]) -> str:
        """Return the input, of one matrix or several side by side, as double."""
        wide = [self.add("Cast", name, to=DOUBLE) for name in names]
        return wide[0] if len(wide) == 1 else self.add("Concat", *wide, axis=1)

    def kernel_values(self, x: str, model: KernelExpansion) -> str:
        """Return k of every row with every term."""
        points = model.with_dense_points("ONNX").points.astype(np.float64)
        if model.centre is not None:
            x = self.add("Sub", x, model.centre[np.newaxis])
        match model.kernel:
            case Gaussian(gamma=gamma):
                return self.add("Exp", self.add("Mul", self._squares(x, points), -float(gamma)))
            case Laplacian(gamma=gamma):
                return self.add("Exp", self.add("Mul", self._absolutes(x, points), -float(gamma)))
            case Linear():
                return self.add("MatMul", x, points.T)
            case Polynomial(gamma=gamma, coef0=coef0, degree=degree):
                inner = self.add("MatMul", x, float(gamma) * points.T)
                return self.add("Pow", self.add("Add", inner, float(coef0)), float(degree))
            case Sigmoid(gamma=gamma, coef0=coef0):
                inner = self.add("MatMul", x, float(gamma) * points.T)
                return self.add("Tanh", self.add("Add", inner, float(coef0)))
        message = f"ONNX cannot express the kernel {model.kernel!r}"
        raise ValueError(message)

    def _squares(self, x: str, points: NDArray[np.float64]) -> str:
        """Return ‖x - z‖²."""
        own = self.add("MatMul", self.add("Mul", x, x), np.ones((points.shape[1], 1)))
        both = self.add("Add", own, (points**2).sum(axis=1)[np.newaxis])
        return self.add("Max", self.add("Sub", both, self.add("MatMul", x, 2 * points.T)), 0.0)

    def _absolutes(self, x: str, points: NDArray[np.float64]) -> str:
        """Return ‖x - z‖₁, which takes rows × terms × features in memory."""
        size, n_features = points.shape
        apart = self.add("Reshape", x, np.array([0, 1, n_features]))
        distances = self.add("Abs", self.add("Sub", apart, points[np.newaxis]))
        sums = self.add("MatMul", distances, np.ones((n_features, 1)))
        return self.add("Reshape", sums, np.array([0, size]))

    def sums(self, x: str, model: KernelExpansion) -> str:
        """Return f of every row and output, (rows, outputs)."""
        if len(model) == 0:  # some runtimes do not like empty matrices
            nothing = np.zeros((1, model.points.shape[1]))
            coef = np.zeros((len(model.coef), 1))
            model = KernelExpansion(model.kernel, nothing, coef, model.bias, model.centre)
        values = self.add("MatMul", self.kernel_values(x, model), model.coef.T)
        return self.add("Add", values, model.bias[np.newaxis])
