"""How fast the program is: one file a benchmark, run by `make bench`."""
