"""Links for other emulators and simulators, with notes on what they cannot express."""
