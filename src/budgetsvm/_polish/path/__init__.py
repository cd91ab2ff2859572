"""One C after another, in the same span."""
