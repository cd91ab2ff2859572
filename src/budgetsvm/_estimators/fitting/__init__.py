"""How a machine is fitted: both phases, what they begin with, and the full problem where that is small."""
