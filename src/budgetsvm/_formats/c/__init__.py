"""Models as C: one header, for machines without Python."""
