"""The exact SVM without a bias, and what it reaches."""
