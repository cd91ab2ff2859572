"""What users of scikit-learn's SVC, SVR and OneClassSVM know: their attributes, their kernels, their data."""
