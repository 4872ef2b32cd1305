"""The base of every other folder: scenarios, runs, quantities, files, the catalogue."""
