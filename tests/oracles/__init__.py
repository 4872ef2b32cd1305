"""airtcp held against other simulators, the Linux kernel and closed forms."""
