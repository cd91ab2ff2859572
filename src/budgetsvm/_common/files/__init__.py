"""Files: complete whenever they can be seen; records as files."""
