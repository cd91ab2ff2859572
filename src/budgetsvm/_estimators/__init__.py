"""What scikit-learn sees."""
