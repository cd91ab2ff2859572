"""Whether the certificate of a polish is to be believed, and what it is in double precision."""
