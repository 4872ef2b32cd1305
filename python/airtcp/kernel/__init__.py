"""Does it hold on a real TCP stack: kernels in guests, their runs next to the simulation."""
