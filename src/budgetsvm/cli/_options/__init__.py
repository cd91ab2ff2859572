"""The options of commands, and whether they do anything."""
