"""A machine that finds its parameters, beside one that does not, the exact one, and boosted trees."""
