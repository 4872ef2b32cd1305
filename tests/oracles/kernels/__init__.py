"""Oracle data of kernels in virtual time: the settings, the recorder, and the runs."""
