"""`python -m airtcp` is `airtcp`."""

from airtcp.cli import main

main()
