"""Reports: self-contained pages, the same as data, and every figure as a file."""
