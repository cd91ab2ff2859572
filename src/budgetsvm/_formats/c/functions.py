"""The functions of a header: @ stands for the name of the model."""

from budgetsvm._formats.c.tables import number
from budgetsvm.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid


def kernel_steps(kernel: Kernel) -> tuple[str, str]:
    """Return what every feature (v of the row, z of the term) adds to `s`, and what the kernel `k` makes of that."""
    match kernel:
        case Gaussian(gamma=gamma):
            return "s += (v[k] - z) * (v[k] - z);", f"expf({number(-float(gamma))} * s)"
        case Laplacian(gamma=gamma):
            return "s += v[k] > z ? v[k] - z : z - v[k];", f"expf({number(-float(gamma))} * s)"
        case Linear():
            return "s += v[k] * z;", "s"
        case Polynomial(gamma=gamma, coef0=coef0):
            return "s += v[k] * z;", f"@power({number(float(gamma))} * s + {number(float(coef0))})"
        case Sigmoid(gamma=gamma, coef0=coef0):
            return "s += v[k] * z;", f"tanhf({number(float(gamma))} * s + {number(float(coef0))})"
    message = f"C cannot express the kernel {kernel!r}"
    raise ValueError(message)


def power(kernel: Kernel) -> str:
    """Return the power of the polynomial kernel."""
    if not isinstance(kernel, Polynomial):
        return ""
    return f"""static inline float @power(float base)
{{
    float value = base;
    int i;
    for (i = 1; i < {kernel.degree}; ++i) value *= base;
    return value;
}}"""


def values(kernel: Kernel, decode: str, row: str, what: str) -> str:
    """Return the function that evaluates all outputs."""
    add, of_sum = kernel_steps(kernel)
    return f"""/* {what} */
static inline void @values(const float *x, float *values)
{{
    float v[@FEATURES];
    double sums[@OUTPUTS];
    int j, k, c;
    for (k = 0; k < @FEATURES; ++k) {{
{row}
    }}
    for (c = 0; c < @OUTPUTS; ++c) sums[c] = (double)@bias[c];
    for (j = 0; j < @TERMS; ++j) {{
        float s = 0.0f;
        for (k = 0; k < @FEATURES; ++k) {{
            const float z = {decode};
            {add}
        }}
        s = {of_sum};
        for (c = 0; c < @OUTPUTS; ++c) sums[c] += (double)@coef[j][c] * (double)s;
    }}
    for (c = 0; c < @OUTPUTS; ++c) values[c] = (float)sums[c];
}}"""


TWO_CLASSES = """/* The class of a row: its place in @labels. */
static inline int @predict(const float *x)
{
    float value[1];
    @values(x, value);
    return value[0] > 0.0f;
}"""

CLASSES = """/* The class of a row: its place in @labels. */
static inline int @predict(const float *x)
{
    float values[@OUTPUTS];
    int c, best = 0;
    @values(x, values);
    for (c = 1; c < @OUTPUTS; ++c) if (values[c] > values[best]) best = c;
    return best;
}"""

PAIRS = """/* The class of a row, its place in @labels: that which wins most pairs and, of several, most clearly. */
static inline int @predict(const float *x)
{
    float values[@OUTPUTS], wins[@CLASSES], sums[@CLASSES];
    int a, b, pair = 0, best = 0;
    @values(x, values);
    for (a = 0; a < @CLASSES; ++a) wins[a] = sums[a] = 0.0f;
    for (a = 0; a < @CLASSES; ++a) for (b = a + 1; b < @CLASSES; ++b, ++pair) {
        wins[values[pair] >= 0.0f ? a : b] += 1.0f;
        sums[a] += values[pair];
        sums[b] -= values[pair];
    }
    for (a = 0; a < @CLASSES; ++a) {
        wins[a] += sums[a] / (3.0f * ((sums[a] < 0.0f ? -sums[a] : sums[a]) + 1.0f));
        if (wins[a] > wins[best]) best = a;
    }
    return best;
}"""

TIED_PAIRS = """/* The class of a row, its place in @labels: that which wins most pairs and, of several, most clearly against each other. */
static inline int @predict(const float *x)
{
    float values[@OUTPUTS], sums[@CLASSES];
    int wins[@CLASSES];
    int a, b, pair = 0, most = 0, best = -1;
    @values(x, values);
    for (a = 0; a < @CLASSES; ++a) { wins[a] = 0; sums[a] = 0.0f; }
    for (a = 0; a < @CLASSES; ++a) for (b = a + 1; b < @CLASSES; ++b, ++pair)
        ++wins[values[pair] >= 0.0f ? a : b];
    for (a = 0; a < @CLASSES; ++a) if (wins[a] > most) most = wins[a];
    for (a = 0, pair = 0; a < @CLASSES; ++a) for (b = a + 1; b < @CLASSES; ++b, ++pair)
        if (wins[a] == most && wins[b] == most) {
            sums[a] += values[pair];
            sums[b] -= values[pair];
        }
    for (a = 0; a < @CLASSES; ++a)
        if (wins[a] == most && (best < 0 || sums[a] > sums[best])) best = a;
    return best;
}"""

FIRST_PAIRS = """/* The class of a row, its place in @labels: that which wins most pairs and, of several, the first in LIBSVM's order. */
static inline int @predict(const float *x)
{
    float values[@OUTPUTS];
    int wins[@CLASSES];
    int a, b, pair = 0, best = 0;
    @values(x, values);
    for (a = 0; a < @CLASSES; ++a) wins[a] = 0;
    for (a = 0; a < @CLASSES; ++a) for (b = a + 1; b < @CLASSES; ++b, ++pair) {
        int first = values[pair] > 0.0f || (values[pair] == 0.0f && @ranks[a] > @ranks[b]);
        ++wins[first ? a : b];
    }
    for (a = 1; a < @CLASSES; ++a)
        if (wins[a] > wins[best] || (wins[a] == wins[best] && @ranks[a] < @ranks[best])) best = a;
    return best;
}"""

DETECTOR = """/* 1 for a row that is like the training data, -1 for an outlier. */
static inline int @predict(const float *x)
{
    float value[1];
    @values(x, value);
    return value[0] >= 0.0f ? 1 : -1;
}"""

TWO_SHARES = """/* The probabilities of both classes. */
static inline void @probabilities(const float *x, float *shares)
{
    float value[1];
    @values(x, value);
    shares[0] = 1.0f / (1.0f + expf(value[0]));
    shares[1] = 1.0f / (1.0f + expf(-value[0]));
}"""

SHARES = """/* The probabilities of all classes. */
static inline void @probabilities(const float *x, float *shares)
{
    float total = 0.0f;
    int c;
    @values(x, shares);
    for (c = 0; c < @OUTPUTS; ++c) total += shares[c] = 1.0f / (1.0f + expf(-shares[c]));
    for (c = 0; c < @OUTPUTS; ++c) shares[c] = total > 0.0f ? shares[c] / total : 0.0f;
}"""
