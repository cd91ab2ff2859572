"""Models of LIBSVM: the text that svm-train writes and svm-predict reads."""
