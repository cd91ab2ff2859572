"""The paper's lemmas and theorem on problems with exact answers."""
