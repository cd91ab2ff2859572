"""The tables and figures of "Dual SVM Training on a Budget", made anew; see ``python -m experiments --help``."""
