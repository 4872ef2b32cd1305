"""Oracle data of kernels in virtual time: what to run, how it was run, and what came out."""
