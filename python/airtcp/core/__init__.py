"""What every other folder uses: scenarios, runs, quantities, files, the catalogue."""
