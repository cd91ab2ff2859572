"""Phase 2: solve the problem in the span of the terms, with a certificate. `polish` is its only door."""
