"""Whether what phase 2 found is as good as it says, and what is better where it is not."""
