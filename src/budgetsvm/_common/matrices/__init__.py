"""Large matrices, in blocks and threads, with the same bits for any number of them."""
