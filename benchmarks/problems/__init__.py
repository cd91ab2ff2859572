"""What is learned: data sets with hyper-parameters, and data made on the spot."""
