"""Reports: pages that need no other file, the same as data, and every figure as a file."""
