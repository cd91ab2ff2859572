"""What is learned: terms, and the function that they are."""
