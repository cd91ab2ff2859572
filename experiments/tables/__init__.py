"""Tables: the data sets and their accuracies, rates of steps, hyper-parameters."""
