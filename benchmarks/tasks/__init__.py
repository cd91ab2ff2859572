"""The parts of the benchmark of tasks beyond two classes, one module each."""
