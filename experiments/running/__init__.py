"""Pieces of work: run in processes, kept as files, gone on with."""
