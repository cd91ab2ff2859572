"""What is to be learned: rows, what they ask of a model, and the arithmetic they need."""
