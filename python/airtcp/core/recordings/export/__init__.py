"""Links for other emulators and simulators, with notes on features they cannot express."""
