"""A search must not make things worse: the default cell, and what has to be shown before another one is taken."""
