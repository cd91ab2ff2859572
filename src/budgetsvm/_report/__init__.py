"""A page about a model: sections of facts and pictures, in one file of HTML."""
