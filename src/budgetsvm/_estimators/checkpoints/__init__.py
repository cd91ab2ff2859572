"""Checkpoints: what a fit leaves in a file while it runs, so that it can go on after the process was killed."""
