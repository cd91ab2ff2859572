"""Rows of NumPy's files, .npy and .npz."""
