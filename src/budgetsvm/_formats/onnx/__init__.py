"""Models for ONNX runtimes (extra ``onnx``)."""
