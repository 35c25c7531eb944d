"""Services in other processes: a client of each, with a pool of connections."""
