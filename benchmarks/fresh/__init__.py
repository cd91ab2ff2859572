"""Work that is done in a process of its own: nothing interferes, and its memory counts."""
