"""How much each feature matters to a kernel: found by the gradient of an error on rows held out."""
