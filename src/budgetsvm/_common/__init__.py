"""What knows nothing of SVMs: checks of parameters, threads, memory, progress, files."""
