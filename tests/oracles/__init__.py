"""airtcp validated against other simulators, the Linux kernel and closed forms."""
