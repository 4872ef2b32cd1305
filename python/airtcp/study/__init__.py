"""Studies: a plan of cells, their execution, the store of what is finished, and statistics."""
