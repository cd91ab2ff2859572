"""The defaults, against those of SVC and SVR."""
